#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"

namespace infeed {

// Writes one TFRecord file, whole or not at all: the file has its name only
// once Close() returned. Without Close() nothing remains.
// One thread at a time. Throws IoError.
class TfrecordWriter {
 public:
  explicit TfrecordWriter(std::string path) : file_(std::move(path)) {}

  void Append(std::span<const std::byte> payload);
  void Append(std::string_view payload);
  // Appends one record whose payload is in several parts, in this order.
  void AppendParts(std::initializer_list<std::string_view> parts);
  // Reports what went wrong; a destructor could not. Requires: called once,
  // last.
  void Close() { file_.Commit(); }

  [[nodiscard]] std::int64_t records() const { return records_; }
  // Bytes of the file so far.
  [[nodiscard]] std::int64_t size() const { return file_.size(); }
  // The checksum of those bytes.
  [[nodiscard]] std::uint32_t crc32c() const { return crc32c_; }

 private:
  void Write(std::span<const std::byte> bytes);

  AtomicFile file_;
  std::int64_t records_ = 0;
  std::uint32_t crc32c_ = 0;
};

}  // namespace infeed
