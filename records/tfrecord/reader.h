#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/tfrecord/compression.h"

namespace infeed {

class ByteSource;

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

// Neighbouring records, by their numbers from 0.
struct RecordRange {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend bool operator==(const RecordRange&, const RecordRange&) = default;
};

// Bytes that were skipped because of damage.
struct Gap {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const Gap&, const Gap&) = default;
};

// Reads the records of one TFRecord file in order, unpacking gzip and zlib
// streams, which it detects by content. Offsets refer to the unpacked bytes. An
// empty file has no records.
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
  ~TfrecordReader();
  TfrecordReader(const TfrecordReader&) = delete;
  TfrecordReader& operator=(const TfrecordReader&) = delete;
  TfrecordReader(TfrecordReader&&) noexcept;
  TfrecordReader& operator=(TfrecordReader&&) noexcept;

  // Returns the next record, or nullopt at the end, also when called again.
  [[nodiscard]] std::optional<Record> Next();

  // The gaps so far, in order.
  [[nodiscard]] const std::vector<Gap>& gaps() const;
  [[nodiscard]] Compression compression() const;

 private:
  class Frames;
  std::unique_ptr<Frames> frames_;
};

}  // namespace infeed
