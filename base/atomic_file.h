#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Files that appear complete or not at all.
namespace infeed {

// Writes PATH through a temporary file beside it: Commit() syncs it, renames it
// and syncs the folder, so that after a crash at any moment PATH is the old
// file or the whole new one. A symbolic link is followed, and stays. A PATH
// that is not a regular file (a device, a FIFO) is written directly: its bytes
// go out before Commit().
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

  // The bytes written so far, including buffered ones.
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  void Flush();

  std::string path_;       // the target, if PATH is a symbolic link
  std::string temporary_;  // "" if path_ is written directly
  std::string buffer_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

// Writes a small file whole.
void WriteFileAtomically(const std::string& path, std::string_view text);

// Returns all bytes of a file, or of a pipe until its end. Throws IoError when
// it cannot be read, is larger than max_bytes, or is a pipe without data that
// no writer has open. Waiting for a pipe's data lets signals through that this
// thread blocks.
[[nodiscard]] std::string ReadWholeFile(const std::string& path,
                                        std::int64_t max_bytes);

// Makes a folder and its missing parent folders. Throws IoError "FOLDER: cannot
// ACTION: ...".
void MakeFolder(const std::string& folder, std::string_view action = "create");

// Makes renames and new files in a folder survive a power failure.
void SyncDirectory(const std::string& directory);

}  // namespace infeed
