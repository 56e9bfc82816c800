#include "records/tfrecord_writer.h"

#include <utility>

#include "base/error.h"
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

}  // namespace

TfrecordWriter::TfrecordWriter(std::string path,
                               const TfrecordWriterOptions& options)
    : path_(std::move(path)),
      sink_(SinkFor(path_, options.compression)),
      write_index_(options.write_index && !IsUrl(path_) &&
                   options.compression == Compression::kNone) {}

void TfrecordWriter::Append(std::span<const std::byte> payload) {
  sink_->Write(EncodeFrameHeader(payload.size()));
  sink_->Write(payload);
  sink_->Write(EncodeFrameFooter(payload));
  ++records_;
  if (write_index_) {
    offsets_.push_back(offset_);
    offset_ += static_cast<std::int64_t>(payload.size() + kFrameOverheadBytes);
  }
}

void TfrecordWriter::Append(std::string_view payload) {
  Append(std::as_bytes(std::span(payload)));
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
