#include "records/tfrecord_writer.h"

#include <utility>

#include "base/error.h"
#include "records/crc32c.h"
#include "records/deflate_sink.h"
#include "records/open_sink.h"
#include "records/open_source.h"
#include "records/tfrecord_format.h"

namespace infeed {
namespace {

std::unique_ptr<ByteSink> SinkFor(const std::string& path,
                                  Compression compression) {
  std::unique_ptr<ByteSink> sink = OpenSink(path);
  return compression == Compression::kNone
             ? std::move(sink)
             : DeflateSink(std::move(sink), compression);
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

TfrecordWriter::TfrecordWriter(std::string path,
                               const TfrecordWriterOptions& options)
    : path_(std::move(path)),
      sink_(SinkFor(path_, options.compression)),
      write_index_(options.write_index && !IsUrl(path_) &&
                   options.compression == Compression::kNone) {}

void TfrecordWriter::Write(std::span<const std::byte> bytes) {
  sink_->Write(bytes);
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
  if (write_index_) {
    offsets_.push_back(offset_);
    offset_ += static_cast<std::int64_t>(length + kFrameOverheadBytes);
  }
}

void TfrecordWriter::Close() {
  sink_->Commit();
  if (write_index_) {
    try {
      (void)SaveIndex(FileSource(path_), offsets_);
    } catch (const IoError&) {  // Then whoever needs one makes it.
    }
  }
}

}  // namespace infeed
