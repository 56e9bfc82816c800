#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

namespace infeed {

// Bytes at any place of one file or object: the bottom of everything that
// reads records. OpenSource() in open_source.h makes the right one for a path.
//
// Const members may be called from several threads at once; others need one
// thread at a time. Throws IoError naming the path.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills destination from offset on and returns how many bytes there were:
  // fewer than asked for only where the bytes end. Requires: offset >= 0.
  [[nodiscard]] virtual std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const = 0;

  // Says that these bytes will be asked for soon, so that they can be on their
  // way. A hint: it may do nothing, and never fails.
  virtual void WillRead(std::int64_t /*offset*/, std::int64_t /*bytes*/) const {
  }

  // What the user called it; names it in messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  // When it was opened.
  [[nodiscard]] std::int64_t size() const { return size_; }
  // Differs when the bytes do: a file's modification time in nanoseconds since
  // 1970, a hash of an object's ETag.
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

// Whether a read failed since a disk cannot give these bytes back; others may
// be as good as ever.
[[nodiscard]] bool IsMediumError(const IoError& error);

// A file. Owns the open descriptor; reads go on after signals and short reads.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override;

 private:
  int descriptor_ = -1;
};

// Bytes in memory, which it owns; `path` only names them.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string path, std::string bytes);

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;

 private:
  std::string bytes_;
};

}  // namespace infeed
