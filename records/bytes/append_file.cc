#include "records/bytes/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "base/seconds.h"

namespace infeed {

AppendFile::AppendFile(std::string path, int own_names)
    : path_(std::move(path)), own_names_(own_names) {
  if (own_names != kNamedByUser) {
    file_ = OpenOwn();
    return;
  }
  RefuseUrl(path_);
  RequireParentFolder(path_);
  file_ = Descriptor(
      ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file_.get() < 0) {
    throw IoError(path_, "open", errno);
  }
}

Descriptor AppendFile::OpenOwn() const {
  MakeFolder(ParentFolder(path_), "create", own_names_ - 1);
  return OpenOwnFile(path_, own_names_);
}

void AppendFile::FollowPath() {
  Check(own_names_ != kNamedByUser, "the file is the program's");
  struct stat named {};
  struct stat open {};
  const bool is_there = ::stat(path_.c_str(), &named) == 0;
  if ((!is_there && errno != ENOENT) || ::fstat(file_.get(), &open) != 0 ||
      (is_there && named.st_dev == open.st_dev &&
       named.st_ino == open.st_ino)) {
    return;
  }
  try {
    file_ = OpenOwn();
  } catch (const IoError&) {  // A link there, or a folder that may not change.
  }
}

void AppendFile::Append(std::string_view piece) {
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  ssize_t written = 0;
  do {
    written = ::write(file_.get(), piece.data(), piece.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) {
    throw IoError(path_, "write", errno);
  }
  if (static_cast<std::size_t>(written) != piece.size()) {
    // Only a full disk writes part of a piece; that part is cut off again.
    const bool cut = before >= 0 && ::ftruncate(file_.get(), before) == 0;
    throw IoError(path_, cut ? "write" : "write or cut off a part", ENOSPC);
  }
}

bool AppendFile::EndsWith(char c) const {
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  char last = c;
  if (size > 0 && ::pread(file_.get(), &last, 1, size - 1) != 1) {
    throw IoError(path_, "read", errno);
  }
  return last == c;
}

double UnixSeconds() {
  return ToSeconds(std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace infeed
