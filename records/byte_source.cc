#include "records/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

int OpenForReading(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    throw IoError(path, "open", errno);
  }
  return descriptor;
}

}  // namespace

ByteSource::ByteSource(std::string path)
    : path_(std::move(path)), descriptor_(OpenForReading(path_)) {
  struct stat status {};
  const int failed = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size_ = status.st_size;
    mtime_ =
        status.st_mtim.tv_sec * kNanosecondsPerSecond + status.st_mtim.tv_nsec;
    return;
  }
  ::close(descriptor_);  // The destructor will not run.
  if (failed != 0) {
    throw IoError(path_, "stat", failed);
  }
  throw IoError(path_ + ": cannot read: " +
                (S_ISDIR(status.st_mode) ? "it is a folder"
                                         : "it is not a regular file"));
}

ByteSource::~ByteSource() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

ByteSource::ByteSource(ByteSource&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      mtime_(other.mtime_) {}

std::size_t ByteSource::ReadAt(std::int64_t offset,
                               std::span<std::byte> destination) const {
  Check(offset >= 0, "a file starts at 0");
  std::size_t done = 0;
  while (done < destination.size()) {
    const ssize_t got =
        ::pread(descriptor_, destination.data() + done,
                destination.size() - done, offset + static_cast<off_t>(done));
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw IoError(path_, "read", errno);
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace infeed
