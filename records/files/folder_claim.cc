#include "records/files/folder_claim.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/atomic_file.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/own_files.h"

namespace infeed {
namespace {

std::string ThisProcess() {
  return "process " + std::to_string(::getpid()) + " on " + HostName();
}

// Whether the path still names the open file: its holder may have removed it
// between our open() and our lock.
bool IsStillThere(int descriptor, const std::string& path) {
  struct stat open {};
  struct stat now {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &now) == 0 &&
         open.st_dev == now.st_dev && open.st_ino == now.st_ino;
}

std::string OwnerIn(int descriptor) {
  std::array<char, 400> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got))
                 : "another process";
}

}  // namespace

FolderClaim::FolderClaim(const std::string& folder, const std::string& name,
                         Kind kind, int own_names)
    : path_(folder + "/" + name), kind_(kind) {
  MakeFolder(folder, "create the folder", own_names - 1);
  const int operation = kind == Kind::kAlone ? LOCK_EX : LOCK_SH;
  while (true) {
    file_ = OpenOwnFile(path_, own_names);
    const bool is_locked = ::flock(file_.get(), operation | LOCK_NB) == 0;
    if (!is_locked && errno == EWOULDBLOCK) {
      const std::string owner = OwnerIn(file_.get());
      throw UsageError(folder + ": " + owner +
                       " is writing to it: wait until it ends, or give another "
                       "folder (it holds the lock " +
                       path_ + ")");
    }
    if (!is_locked || IsStillThere(file_.get(), path_)) {
      break;
    }
  }
  if (kind == Kind::kAlone) {
    const std::string text = ThisProcess();
    (void)::ftruncate(file_.get(), 0);
    (void)::write(file_.get(), text.data(), text.size());
  }
}

FolderClaim::~FolderClaim() {
  // The last holder of a shared claim removes the file.
  if (kind_ == Kind::kAlone || ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) {
    ::unlink(path_.c_str());
  }
}

}  // namespace infeed
