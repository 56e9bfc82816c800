#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/byte_source.h"

namespace infeed {

struct TfrecordReaderOptions {
  // Whether payload checksums are verified. A frame's length is never trusted
  // before its own checksum held.
  bool verify_checksums = true;
  // A longer record is a DataError, found before any memory is taken for it.
  std::int64_t max_record_bytes = std::int64_t{1} << 30;
  // Bytes read from the file at once.
  std::size_t buffer_bytes = std::size_t{1} << 20;
};

// One record of a file.
struct Record {
  std::span<const std::byte> payload;
  std::int64_t number = 0;  // from 0 within the file
  std::int64_t offset = 0;  // of the frame's first byte
};

// Reads the records of one TFRecord file in order. The frame's layout is in
// tfrecord_format.h. A file of zero bytes holds no records.
//
// A record that Next() returns is valid until the next call on the reader.
// One thread at a time. Throws DataError, with file, record and byte offset,
// for a checksum that does not match or a frame that is cut short; IoError
// when the file cannot be read; UsageError when max_record_bytes is not
// positive. After a payload whose checksum does not match, the next call goes
// on behind it; after another error nobody knows where the next frame starts,
// and the next call returns nullopt.
class TfrecordReader {
 public:
  explicit TfrecordReader(const std::string& path,
                          const TfrecordReaderOptions& options = {});
  explicit TfrecordReader(std::unique_ptr<ByteSource> source,
                          const TfrecordReaderOptions& options = {});

  // Returns the next record, or nullopt at the end, and stays there.
  [[nodiscard]] std::optional<Record> Next();

 private:
  // Returns `count` bytes at offset, from the buffer; fewer at the file's end.
  // Requires: offset does not go back.
  std::span<const std::byte> View(std::int64_t offset, std::size_t count);

  std::unique_ptr<ByteSource> source_;
  TfrecordReaderOptions options_;
  std::vector<std::byte> buffer_;
  std::int64_t buffer_offset_ = 0;
  std::size_t buffer_size_ = 0;  // bytes of the file in the buffer
  std::int64_t offset_ = 0;      // of the next frame
  std::int64_t number_ = 0;      // of the next record
  bool ended_ = false;
};

}  // namespace infeed
