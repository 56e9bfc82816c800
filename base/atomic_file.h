#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/own_files.h"

// Files that appear complete or not at all.
namespace infeed {

// Writes PATH through a temporary file beside it: Commit() syncs it, renames it
// and syncs the folder, so that after a crash at any moment PATH is the old
// file or the whole new one. own_names (own_files.h) says whose name PATH is.
// At the program's own name, whatever exists is replaced, even a symbolic link.
// At a name that the user gave, a symbolic link is followed and kept, and a
// device or a FIFO is written directly: its bytes go out before Commit().
//
// Owns the temporary file, and removes it unless committed.
// One thread at a time. Throws IoError; after that only destruction is allowed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, int own_names = 1);
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
  void OpenTemporary();
  void Flush();

  std::string path_;       // the target, if a symbolic link was followed
  Descriptor folder_;      // of path_
  std::string temporary_;  // its name there; "" if path_ is written directly
  std::string buffer_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

// Returns the NAME of NAME.tmp-PROCESS, an AtomicFile's temporary file, if no
// process of this machine has the number: a killed one left it. Else "".
[[nodiscard]] std::string_view NameOfLeftover(std::string_view temporary);

// Writes a small file whole.
void WriteFileAtomically(const std::string& path, std::string_view text,
                         int own_names = 1);

// Returns all bytes of a regular file. Throws IoError when it is none, cannot
// be read or is larger than max_bytes.
[[nodiscard]] std::string ReadWholeFile(const std::string& path,
                                        std::int64_t max_bytes);

// As ReadWholeFile(), for a path that the user has given; reads a pipe until
// its end. Throws IoError for a pipe without data that no writer has open, and
// when a stop is requested, now or before, while it waits for a pipe's data.
// Without a stop token, signals that this thread blocks are delivered
// meanwhile.
[[nodiscard]] std::string ReadFileOrPipe(const std::string& path,
                                         std::int64_t max_bytes,
                                         const std::stop_token& stop = {});

// Makes a folder and its missing parent folders. Throws IoError "FOLDER: cannot
// ACTION: ...".
void MakeFolder(const std::string& folder, std::string_view action = "create",
                int own_names = kNamedByUser);

// Removes a file, if there is one. Throws IoError.
void RemoveFile(const std::string& path);

// Makes renames and new files in a folder survive a power failure.
void SyncDirectory(const std::string& directory);

}  // namespace infeed
