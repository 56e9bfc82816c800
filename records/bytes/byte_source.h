#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"

namespace infeed {

// The version of a web server's file that has neither an ETag nor a time:
// nothing may be kept of it, as nothing would tell that it was replaced.
inline constexpr std::int64_t kNoVersion =
    std::numeric_limits<std::int64_t>::min();

// Random access to the bytes of one file or object; everything that reads
// records is built on it. OpenSource() in open_source.h makes the right one for
// a path.
//
// Const members may be called from several threads at once; others need one
// thread at a time. Throws IoError naming the path.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills destination with the bytes from offset on and returns their number,
  // less than destination's size only at the end of the source. Requires:
  // offset >= 0.
  [[nodiscard]] virtual std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const = 0;

  // A hint that these bytes will be read soon, so that fetching them can begin.
  // It may do nothing, and never fails.
  virtual void WillRead(std::int64_t /*offset*/, std::int64_t /*bytes*/) const {
  }

  // The path or URL as the user gave it, for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  // The size, in bytes, when it was opened.
  [[nodiscard]] std::int64_t size() const { return size_; }
  // A number that changes when the bytes change: a file's modification time in
  // nanoseconds since 1970, a hash of an object's ETag. kNoVersion: unknown.
  [[nodiscard]] std::int64_t version() const { return version_; }

 protected:
  explicit ByteSource(std::string path) : path_(std::move(path)) {}
  void set_size(std::int64_t size) { size_ = size; }
  void set_version(std::int64_t version) { version_ = version; }

 private:
  std::string path_;
  std::int64_t size_ = 0;
  std::int64_t version_ = 0;
};

// So many bytes, or all that are left where these are fewer; more may be left
// than a size_t counts. Requires: left >= 0.
[[nodiscard]] inline std::size_t BytesWithin(std::size_t bytes,
                                             std::int64_t left) {
  return std::cmp_less(left, bytes) ? static_cast<std::size_t>(left) : bytes;
}

// Whether a read failed because the medium cannot return these bytes (EIO);
// other bytes may still be readable.
[[nodiscard]] bool IsMediumError(const IoError& error);

// A file. Owns the open descriptor; continues reads after signals and short
// reads.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path);

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override;

 private:
  Descriptor file_;
};

// Bytes in memory, which it owns; `path` is only a name for messages.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string path, std::string bytes);

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;

 private:
  std::string bytes_;
};

}  // namespace infeed
