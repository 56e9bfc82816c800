#include "records/tfrecord/reader.h"

#include <utility>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/files/open_source.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

constexpr std::int64_t kHeader = kFrameHeaderBytes;
// Limit of payload bytes checked in vain while searching the next frame: a
// malicious file can make every byte look like the begin of a large frame.
constexpr std::int64_t kSearchBytes = std::int64_t{1} << 32;
constexpr std::size_t kSearchStep = std::size_t{1} << 16;

// Returns the place of the first header in bytes that has a correct checksum
// and a length within the limit; else the first place where a header that is
// cut off by the end may begin.
std::size_t FindHeader(std::span<const std::byte> bytes,
                       std::int64_t max_length) {
  std::size_t place = 0;
  for (; place + kFrameHeaderBytes <= bytes.size(); ++place) {
    const auto rest = bytes.subspan(place);
    // Almost all places fail the first condition, which is cheap.
    if (ClaimedLength(rest) <= static_cast<std::uint64_t>(max_length) &&
        HasFrameHeader(rest)) {
      break;
    }
  }
  return place;
}

}  // namespace

// The reader itself, which TfrecordReader hides.
class TfrecordReader::Frames {
 public:
  Frames(std::unique_ptr<ByteSource> source,
         const TfrecordReaderOptions& options);

  [[nodiscard]] std::optional<Record> Next();
  [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }
  [[nodiscard]] Compression compression() const {
    return buffer_.stream().compression();
  }

 private:
  [[nodiscard]] FramePlace Place() const;
  [[nodiscard]] std::optional<Record> ReadFrame(const FramePlace& place);
  [[noreturn]] void FailAt(const FramePlace& place, const DataError& error);
  [[nodiscard]] bool SkipDamage(const FramePlace& place);
  [[nodiscard]] std::int64_t FindChain(std::int64_t begin, std::int64_t end);
  [[nodiscard]] bool FindFrame(std::int64_t offset);
  [[nodiscard]] bool IsFrame(std::int64_t offset);

  std::unique_ptr<ByteSource> source_;
  TfrecordReaderOptions options_;
  StreamBuffer buffer_;
  std::int64_t offset_ = 0;  // of the next frame
  std::int64_t number_ = 0;  // of the next record
  bool ended_ = false;
  std::vector<Gap> gaps_;
};

TfrecordReader::Frames::Frames(std::unique_ptr<ByteSource> source,
                               const TfrecordReaderOptions& options)
    : source_(std::move(source)),
      options_(options),
      buffer_(OpenStream(*source_), options.buffer_bytes) {
  if (options_.max_record_bytes <= 0) {
    throw UsageError("max_record_bytes must be positive, not " +
                     std::to_string(options_.max_record_bytes));
  }
}

std::optional<Record> TfrecordReader::Frames::Next() {
  if (ended_) {
    return std::nullopt;
  }
  const FramePlace place = Place();
  try {
    return ReadFrame(place);
  } catch (const DataError& error) {
    FailAt(place, error);
  }
}

FramePlace TfrecordReader::Frames::Place() const {
  return {.path = source_->path(),
          .record = number_,
          .offset = offset_,
          .file_size = buffer_.stream().size(),
          .max_record_bytes = options_.max_record_bytes};
}

// Moves behind a frame whose length is known before it checks the payload.
std::optional<Record> TfrecordReader::Frames::ReadFrame(
    const FramePlace& place) {
  buffer_.Release(offset_);
  ended_ = true;  // Reset once the frame proves complete.
  const auto header = buffer_.View(offset_, kFrameHeaderBytes);
  if (header.empty()) {
    return std::nullopt;
  }
  const std::int64_t length = DecodeFrameHeader(header, place);
  const auto body = buffer_.View(
      offset_ + kHeader, static_cast<std::size_t>(length) + kFrameFooterBytes);
  CheckFrameIsWhole(body, length, place);
  ended_ = false;
  offset_ += length + kFrameOverhead;
  ++number_;
  if (options_.verify_checksums) {
    CheckPayload(body, place);
  }
  return Record{.payload = body.first(static_cast<std::size_t>(length)),
                .number = place.record,
                .offset = place.offset};
}

// Throws the error with its consequences. offset_ is behind the damaged frame
// if its length could be read.
void TfrecordReader::Frames::FailAt(const FramePlace& place,
                                    const DataError& error) {
  if (!options_.resynchronise) {
    throw error.At(place.origin());
  }
  ended_ = !SkipDamage(place);
  const Gap gap = {place.offset, offset_ - place.offset};
  gaps_.push_back(gap);
  number_ = place.record + 1;
  throw DataError(
      place.origin(),
      error.reason() + "; " + std::to_string(gap.bytes) + " bytes lost, " +
          (ended_ ? "no good record follows"
                  : "the next record is at byte " + std::to_string(offset_)));
}

// Moves to the first good frame behind a damaged one. If there is none, moves
// to the end and returns false.
bool TfrecordReader::Frames::SkipDamage(const FramePlace& place) {
  try {
    if (buffer_.View(place.offset, 1).empty()) {
      return false;
    }
    if (offset_ == place.offset) {
      return FindFrame(place.offset + 1);
    }
    // The payload is damaged, or bytes are missing in it: then the next frame
    // starts before the end that the length gives.
    const bool at_end = buffer_.View(offset_, 1).empty();
    if (!at_end && !IsFrame(offset_)) {
      return FindFrame(place.offset + 1);
    }
    const std::int64_t inner = FindChain(place.offset + 1, offset_);
    const bool found = inner != offset_ || !at_end;
    offset_ = inner;
    return found;
  } catch (const DataError&) {  // The compressed stream is damaged here.
    offset_ = buffer_.end();
    return false;
  }
}

// Returns the begin of the first chain of complete frames that ends exactly at
// `end`; `end` if there is none. Frames inside a payload cannot form such a
// chain, as the payload's checksum follows them.
std::int64_t TfrecordReader::Frames::FindChain(std::int64_t begin,
                                               std::int64_t end) {
  while (begin < end) {
    const auto bytes =
        buffer_.View(begin, static_cast<std::size_t>(end - begin));
    begin +=
        static_cast<std::int64_t>(FindHeader(bytes, options_.max_record_bytes));
    std::int64_t next = begin;
    while (next < end && IsFrame(next)) {
      next += kFrameOverhead + static_cast<std::int64_t>(ClaimedLength(
                                   buffer_.View(next, kFrameHeaderBytes)));
    }
    if (next == end && begin <= end - kFrameOverhead) {
      return begin;
    }
    ++begin;
  }
  return end;
}

// Moves offset_ to the first complete frame at or behind offset. If there is
// none, moves to the end and returns false.
bool TfrecordReader::Frames::FindFrame(std::int64_t offset) {
  std::int64_t looked_at = 0;
  while (looked_at < kSearchBytes) {
    offset_ = offset;
    buffer_.Release(offset);
    const auto bytes = buffer_.View(offset, kSearchStep);
    if (bytes.size() < kFrameOverheadBytes) {
      offset_ += static_cast<std::int64_t>(bytes.size());
      return false;
    }
    const std::size_t place = FindHeader(bytes, options_.max_record_bytes);
    offset_ += static_cast<std::int64_t>(place);
    if (place + kFrameHeaderBytes > bytes.size()) {
      offset = offset_;  // The rest may be the start of a header.
      continue;
    }
    looked_at += static_cast<std::int64_t>(ClaimedLength(bytes.subspan(place)));
    buffer_.Release(offset_);
    if (IsFrame(offset_)) {
      return true;
    }
    offset = offset_ + 1;
  }
  return false;
}

// Whether a complete frame with two correct checksums is at offset.
bool TfrecordReader::Frames::IsFrame(std::int64_t offset) {
  const auto header = buffer_.View(offset, kFrameHeaderBytes);
  const std::uint64_t left =
      static_cast<std::uint64_t>(buffer_.stream().size() - offset);
  if (!HasFrameHeader(header) || left < kFrameOverheadBytes) {
    return false;
  }
  const std::uint64_t length = ClaimedLength(header);
  if (length > static_cast<std::uint64_t>(options_.max_record_bytes) ||
      length > left - kFrameOverheadBytes) {
    return false;
  }
  const std::size_t wanted = length + kFrameFooterBytes;
  const auto body = buffer_.View(offset + kHeader, wanted);
  return body.size() == wanted && IsPayloadGood(body);
}

TfrecordReader::TfrecordReader(const std::string& path,
                               const TfrecordReaderOptions& options)
    : TfrecordReader(OpenSource(path), options) {}

TfrecordReader::TfrecordReader(std::unique_ptr<ByteSource> source,
                               const TfrecordReaderOptions& options)
    : frames_(std::make_unique<Frames>(std::move(source), options)) {}

TfrecordReader::~TfrecordReader() = default;
TfrecordReader::TfrecordReader(TfrecordReader&&) noexcept = default;
TfrecordReader& TfrecordReader::operator=(TfrecordReader&&) noexcept = default;

std::optional<Record> TfrecordReader::Next() { return frames_->Next(); }

const std::vector<Gap>& TfrecordReader::gaps() const { return frames_->gaps(); }

Compression TfrecordReader::compression() const {
  return frames_->compression();
}

}  // namespace infeed
