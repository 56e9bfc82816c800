#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace infeed {

// A file system of so many bytes ("1m"), as long as the object lives; where
// none may be mounted, error() says why.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& bytes) {
    if (!Mount(0, bytes)) {
      error_ = std::strerror(errno);
    }
  }
  ~SmallDisk() {
    if (error_.empty()) {
      ::umount(folder_.path().c_str());
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Makes room. Requires: error() is empty.
  void Grow(const std::string& bytes) const {
    Check(Mount(MS_REMOUNT, bytes), "the disk can be made larger");
  }

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  [[nodiscard]] bool Mount(unsigned long flags,
                           const std::string& bytes) const {
    return ::mount("tmpfs", folder_.path().c_str(), "tmpfs", flags,
                   ("size=" + bytes).c_str()) == 0;
  }

  const TemporaryFolder folder_;
  std::string error_;
};

}  // namespace infeed
