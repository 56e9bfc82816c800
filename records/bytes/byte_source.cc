#include "records/bytes/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace infeed {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

bool IsMediumError(const IoError& error) {
  const int value = error.errno_value();
  return value == EIO || value == EBADMSG || value == EUCLEAN;
}

FileSource::FileSource(std::string path)
    : ByteSource(std::move(path)),
      // Without O_NONBLOCK, opening a named pipe would wait for a writer.
      file_(::open(this->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_.get() < 0) {
    throw IoError(this->path(), "open", errno);
  }
  if (::fstat(file_.get(), &status) != 0) {
    throw IoError(this->path(), "stat", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw IoError(this->path() + ": cannot read: " +
                  (S_ISDIR(status.st_mode) ? "it is a folder"
                                           : "it is not a regular file"));
  }
  set_size(status.st_size);
  set_version(status.st_mtim.tv_sec * kNanosecondsPerSecond +
              status.st_mtim.tv_nsec);
}

std::size_t FileSource::ReadAt(std::int64_t offset,
                               std::span<std::byte> destination) const {
  Check(offset >= 0, "a file starts at 0");
  std::size_t done = 0;
  while (done < destination.size()) {
    const ssize_t got =
        ::pread(file_.get(), destination.data() + done,
                destination.size() - done, offset + static_cast<off_t>(done));
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw IoError(path(), "read", errno);
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void FileSource::WillRead(std::int64_t offset, std::int64_t bytes) const {
  (void)::posix_fadvise(file_.get(), offset, bytes, POSIX_FADV_WILLNEED);
}

MemorySource::MemorySource(std::string path, std::string bytes)
    : ByteSource(std::move(path)), bytes_(std::move(bytes)) {
  set_size(static_cast<std::int64_t>(bytes_.size()));
}

std::size_t MemorySource::ReadAt(std::int64_t offset,
                                 std::span<std::byte> destination) const {
  Check(offset >= 0, "bytes start at 0");
  if (offset >= size()) {
    return 0;
  }
  const auto place = static_cast<std::size_t>(offset);
  const std::size_t count = std::min(destination.size(), bytes_.size() - place);
  std::memcpy(destination.data(), bytes_.data() + place, count);
  return count;
}

}  // namespace infeed
