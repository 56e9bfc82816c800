#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/stream_buffer.h"

namespace infeed {

struct TfrecordReaderOptions {
  // Whether payload checksums are verified. The length's checksum always is.
  bool verify_checksums = true;
  // A longer record is a DataError, found before any memory is taken for it.
  std::int64_t max_record_bytes = std::int64_t{1} << 30;
  // Bytes read from the file at once.
  std::size_t buffer_bytes = std::size_t{1} << 20;
  // Whether reading continues after damage at the next frame with two correct
  // checksums, wherever it is.
  bool resynchronise = false;
};

// One record of a file.
struct Record {
  std::span<const std::byte> payload;
  std::int64_t number = 0;  // from 0 within the file; a gap counts as one
  std::int64_t offset = 0;  // of the frame's first byte
};

// Bytes that were skipped because of damage.
struct Gap {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const Gap&, const Gap&) = default;
};

// Reads the records of one TFRecord file in order, unpacking gzip and zlib
// streams, which it detects by content. The frame's layout is in format.h;
// offsets refer to the unpacked bytes. An empty file has no records.
//
// A record that Next() returns is valid until the next call on the reader. One
// thread at a time. Throws DataError, with file, record and byte offset, for a
// wrong checksum, a frame that is cut short or a stream that cannot be
// unpacked; IoError when the file cannot be read; UsageError when
// max_record_bytes is not positive.
//
// After a payload with a wrong checksum, the next call continues behind it.
// After other damage the place of the next frame is unknown: the next call
// returns nullopt, or, with `resynchronise`, the next good record; the error
// then has the number of skipped bytes.
class TfrecordReader {
 public:
  // A path, or a URL as OpenSource() takes it.
  explicit TfrecordReader(const std::string& path,
                          const TfrecordReaderOptions& options = {});
  explicit TfrecordReader(std::unique_ptr<ByteSource> source,
                          const TfrecordReaderOptions& options = {});

  // Returns the next record, or nullopt at the end, also when called again.
  [[nodiscard]] std::optional<Record> Next();

  // The gaps so far, in order.
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

}  // namespace infeed
