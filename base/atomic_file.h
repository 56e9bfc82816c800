#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Files that are there whole or not at all.
namespace infeed {

// Writes PATH through a temporary file beside it: Commit() syncs it, renames
// it and syncs the folder, so that after a crash at any moment PATH is the old
// file or the whole new one. A symbolic link is followed, and stays. Where PATH
// is no regular file (a device, a FIFO) it is written to as it is: bytes go
// out before Commit().
//
// Owns the temporary file, and removes it unless committed.
// One thread at a time. Throws IoError; after that only destruction is allowed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text);
  // Makes the file appear under its name. Requires: called once, last.
  void Commit();

  // The bytes written so far, those still buffered included.
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  void Flush();

  std::string path_;       // the link followed
  std::string temporary_;  // "" where path_ itself is written to
  std::string buffer_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

// Writes a small file whole.
void WriteFileAtomically(const std::string& path, std::string_view text);

// Returns a file's bytes, or those of a pipe until its end. Throws IoError when
// it cannot be read, is larger than max_bytes, or is a pipe without any bytes:
// nobody is waited for who does not have it open. While a pipe is waited for,
// signals that this thread blocks are let through.
[[nodiscard]] std::string ReadWholeFile(const std::string& path,
                                        std::int64_t max_bytes);

// Makes a folder, and those it lies in, where they are missing. Throws IoError
// "FOLDER: cannot ACTION: ...".
void MakeFolder(const std::string& folder, std::string_view action = "create");

// Makes renames and new files in a folder survive a power failure.
void SyncDirectory(const std::string& directory);

}  // namespace infeed
