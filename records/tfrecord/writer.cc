#include "records/tfrecord/writer.h"

#include <utility>

#include "base/error.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/index_file.h"

namespace infeed {
namespace {

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

struct TfrecordWriter::State {
  State(std::string to, const TfrecordWriterOptions& options)
      : path(std::move(to)),
        sink(SinkFor(path, options, crc)),
        writes_index(options.write_index && !IsUrl(path) &&
                     options.compression == Compression::kNone) {}

  const std::string path;
  std::uint32_t crc = 0;  // The sink refers to it.
  const std::unique_ptr<ByteSink> sink;
  const bool writes_index;
  std::int64_t records = 0;
  std::int64_t offset = 0;  // of the next frame
  FrameOffsets offsets = {};
};

TfrecordWriter::TfrecordWriter(std::string path,
                               const TfrecordWriterOptions& options)
    : state_(std::make_unique<State>(std::move(path), options)) {}

TfrecordWriter::~TfrecordWriter() = default;
TfrecordWriter::TfrecordWriter(TfrecordWriter&&) noexcept = default;
TfrecordWriter& TfrecordWriter::operator=(TfrecordWriter&&) noexcept = default;

std::int64_t TfrecordWriter::records() const { return state_->records; }
std::int64_t TfrecordWriter::size() const { return state_->sink->size(); }
std::uint32_t TfrecordWriter::crc32c() const { return state_->crc; }

void TfrecordWriter::Append(std::span<const std::byte> payload) {
  Append(AsChars(payload));
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
  state_->sink->Write(EncodeFrameHeader(length));
  for (const std::string_view part : parts) {
    state_->sink->Write(BytesOf(part));
  }
  state_->sink->Write(EncodeFrameFooter(crc));
  ++state_->records;
  if (state_->writes_index) {
    state_->offsets.push_back(state_->offset);
    state_->offset += static_cast<std::int64_t>(length + kFrameOverheadBytes);
  }
}

void TfrecordWriter::Close() {
  state_->sink->Commit();
  if (state_->writes_index) {
    try {
      (void)SaveIndex(FileSource(state_->path), state_->offsets);
    } catch (const IoError&) {  // A reader that needs an index makes it.
    }
  }
}

}  // namespace infeed
