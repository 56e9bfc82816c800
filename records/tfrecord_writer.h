#pragma once

#include <cstddef>
#include <cstdint>
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
  // Reports what went wrong; a destructor could not. Requires: called once,
  // last.
  void Close() { file_.Commit(); }

  [[nodiscard]] std::int64_t records() const { return records_; }
  // Bytes of the file so far.
  [[nodiscard]] std::int64_t size() const { return file_.size(); }

 private:
  AtomicFile file_;
  std::int64_t records_ = 0;
};

}  // namespace infeed
