#include "records/tfrecord_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "records/open_source.h"
#include "records/tfrecord_format.h"

namespace infeed {

TfrecordReader::TfrecordReader(const std::string& path,
                               const TfrecordReaderOptions& options)
    : TfrecordReader(OpenSource(path), options) {}

TfrecordReader::TfrecordReader(std::unique_ptr<ByteSource> source,
                               const TfrecordReaderOptions& options)
    : source_(std::move(source)), options_(options) {
  if (options_.max_record_bytes <= 0) {
    throw UsageError("max_record_bytes must be positive, not " +
                     std::to_string(options_.max_record_bytes));
  }
}

std::optional<Record> TfrecordReader::Next() {
  if (ended_ || offset_ >= source_->size()) {
    return std::nullopt;
  }
  const FramePlace place = {.path = source_->path(),
                            .record = number_,
                            .offset = offset_,
                            .file_size = source_->size(),
                            .max_record_bytes = options_.max_record_bytes};
  ended_ = true;  // Unless the frame turns out to be whole.
  const std::int64_t length =
      DecodeFrameHeader(View(place.offset, kFrameHeaderBytes), place);
  const auto body =
      View(place.offset + static_cast<std::int64_t>(kFrameHeaderBytes),
           static_cast<std::size_t>(length) + kFrameFooterBytes);
  CheckFrameIsWhole(body, length, place);
  ended_ = false;
  offset_ += length + static_cast<std::int64_t>(kFrameOverheadBytes);
  ++number_;
  if (options_.verify_checksums) {
    CheckPayload(body, place);
  }
  return Record{.payload = body.first(static_cast<std::size_t>(length)),
                .number = place.record,
                .offset = place.offset};
}

std::span<const std::byte> TfrecordReader::View(std::int64_t offset,
                                                std::size_t count) {
  const auto skipped = static_cast<std::size_t>(offset - buffer_offset_);
  const std::size_t kept =
      buffer_size_ - std::min<std::size_t>(skipped, buffer_size_);
  if (kept < count) {
    // What is there of it moves to the front; one read fills the rest.
    const std::size_t kept_at = buffer_size_ - kept;
    const auto left = static_cast<std::size_t>(source_->size() - offset);
    const std::size_t wanted =
        std::min(std::max(count, options_.buffer_bytes), left);
    if (buffer_.size() < wanted) {
      std::vector<std::byte> bigger(wanted);
      std::copy_n(buffer_.begin() + kept_at, kept, bigger.begin());
      buffer_.swap(bigger);
    } else {
      std::memmove(buffer_.data(), buffer_.data() + kept_at, kept);
    }
    buffer_offset_ = offset;
    buffer_size_ = kept;
    buffer_size_ +=
        source_->ReadAt(offset + static_cast<std::int64_t>(kept),
                        std::span(buffer_).subspan(kept, wanted - kept));
    return std::span(buffer_).first(std::min(count, buffer_size_));
  }
  return std::span(buffer_).subspan(skipped, count);
}

}  // namespace infeed
