#include "records/tfrecord_writer.h"

#include "records/crc32c.h"
#include "records/tfrecord_format.h"

namespace infeed {
namespace {

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

void TfrecordWriter::Write(std::span<const std::byte> bytes) {
  file_.Write(bytes);
  crc32c_ = ExtendCrc32c(crc32c_, bytes);
}

void TfrecordWriter::Append(std::span<const std::byte> payload) {
  Append({reinterpret_cast<const char*>(payload.data()), payload.size()});
}

void TfrecordWriter::Append(std::string_view payload) {
  AppendParts({payload});
}

void TfrecordWriter::AppendParts(
    std::initializer_list<std::string_view> parts) {
  std::uint64_t length = 0;
  std::uint32_t crc = 0;
  for (const std::string_view part : parts) {
    length += part.size();
    crc = ExtendCrc32c(crc, BytesOf(part));
  }
  Write(EncodeFrameHeader(length));
  for (const std::string_view part : parts) {
    Write(BytesOf(part));
  }
  Write(EncodeFrameFooter(crc));
  ++records_;
}

}  // namespace infeed
