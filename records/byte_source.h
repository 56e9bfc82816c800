#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace infeed {

// Bytes at any place of one file: the bottom of everything that reads records.
//
// Owns the open file. Const members may be called from several threads at
// once; others need one thread at a time. Throws IoError.
class ByteSource {
 public:
  explicit ByteSource(std::string path);
  ~ByteSource();
  ByteSource(ByteSource&& other) noexcept;
  ByteSource& operator=(ByteSource&&) = delete;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills destination from offset on and returns how many bytes there were:
  // fewer than asked for only where the file ends.
  [[nodiscard]] std::size_t ReadAt(std::int64_t offset,
                                   std::span<std::byte> destination) const;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Size and modification time when it was opened.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t mtime_nanoseconds() const { return mtime_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t mtime_ = 0;
};

}  // namespace infeed
