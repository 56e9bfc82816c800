#include "records/tfrecord/writer.h"

#include <utility>

#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

// Forwards to another sink and computes the checksum of the bytes.
class SummedSink final : public ByteSink {
 public:
  // `crc` must outlive it.
  SummedSink(std::unique_ptr<ByteSink> sink, std::uint32_t& crc)
      : sink_(std::move(sink)), crc_(crc) {}

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override {
    crc_ = ExtendCrc32c(crc_, bytes);
    sink_->Write(bytes);
  }
  void Commit() override { sink_->Commit(); }
  [[nodiscard]] std::int64_t size() const override { return sink_->size(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  std::uint32_t& crc_;
};

std::unique_ptr<ByteSink> SinkFor(const std::string& path,
                                  const TfrecordWriterOptions& options,
                                  std::uint32_t& crc) {
  std::unique_ptr<ByteSink> sink =
      std::make_unique<SummedSink>(OpenSink(path, options.own_names), crc);
  if (options.compression == Compression::kNone) {
    return sink;
  }
  return DeflateSink(std::move(sink), options.compression);
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

TfrecordWriter::TfrecordWriter(std::string path,
                               const TfrecordWriterOptions& options)
    : path_(std::move(path)),
      crc_(std::make_unique<std::uint32_t>(0)),
      sink_(SinkFor(path_, options, *crc_)),
      write_index_(options.write_index && !IsUrl(path_) &&
                   options.compression == Compression::kNone) {}

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
  sink_->Write(EncodeFrameHeader(length));
  for (const std::string_view part : parts) {
    sink_->Write(BytesOf(part));
  }
  sink_->Write(EncodeFrameFooter(crc));
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
    } catch (const IoError&) {  // A reader that needs an index makes it.
    }
  }
}

}  // namespace infeed
