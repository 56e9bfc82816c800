#include "base/atomic_file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/parent_folder.h"

namespace infeed {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

void WriteAll(int descriptor, const std::string& path, const char* bytes,
              std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor, bytes, count);
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw IoError(path, "write", errno);
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

// Whether PATH is a special file (device, FIFO, socket), which a file must not
// replace. A folder is not reported: rename() refuses to replace it.
bool IsSpecialFile(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
         !S_ISDIR(status.st_mode);
}

// Returns the target of a symbolic link, even one that does not exist yet; any
// other path unchanged.
std::string Followed(std::string path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // the kernel's limit
  std::error_code error;
  // The links in /proc/self/fd may name things that are not paths.
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path target =
        IsSpecialFile(path) ? fs::path() : fs::read_symlink(path, error);
    if (target.empty()) {
      return path;
    }
    path = (fs::path(path).parent_path() / target).string();
  }
  throw IoError(path, "follow the link", ELOOP);
}

// Closes a descriptor at the end of a scope.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (value_ < 0) {
      throw IoError(path, "open", errno);
    }
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

// Waits until the pipe can be read. Signals that the process has blocked are
// let through meanwhile, so that a user can interrupt a wait for a writer that
// never comes.
void AwaitBytes(int descriptor) {
  pollfd ready = {.fd = descriptor, .events = POLLIN, .revents = 0};
  sigset_t none;
  sigemptyset(&none);
  (void)::ppoll(&ready, 1, nullptr, &none);
}

// Reads until the end of a file or pipe of about `expected` bytes.
std::string ReadToEnd(int descriptor, const std::string& path,
                      std::int64_t expected, std::int64_t max_bytes) {
  constexpr std::size_t kLeastRoom = 4096;
  std::string text(static_cast<std::size_t>(expected) + 1, '\0');
  std::size_t done = 0;
  while (true) {
    const ssize_t got =
        ::read(descriptor, text.data() + done, text.size() - done);
    if (got == 0) {
      break;
    }
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno == EAGAIN) {  // a pipe with no data yet
      AwaitBytes(descriptor);
    } else if (errno != EINTR) {
      throw IoError(path, "read", errno);
    }
    if (done > static_cast<std::size_t>(max_bytes)) {
      throw IoError(path + ": has more bytes than the limit of " +
                    std::to_string(max_bytes));
    }
    if (done == text.size()) {
      text.resize(done + std::max(done, kLeastRoom));
    }
  }
  text.resize(done);
  return text;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(Followed(std::move(path))) {
  if (IsSpecialFile(path_)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // The process number keeps two writers of one path apart.
    temporary_ = path_ + ".tmp-" + std::to_string(::getpid());
    descriptor_ = ::open(temporary_.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    throw IoError(path_, "create", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    if (!temporary_.empty()) {
      ::unlink(temporary_.c_str());
    }
  }
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  Write(std::string_view(reinterpret_cast<const char*>(bytes.data()),
                         bytes.size()));
}

void AtomicFile::Write(std::string_view text) {
  size_ += static_cast<std::int64_t>(text.size());
  buffer_.append(text);
  if (buffer_.size() >= kBufferBytes) {
    Flush();
  }
}

void AtomicFile::Flush() {
  WriteAll(descriptor_, path_, buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::Commit() {
  Check(descriptor_ >= 0, "a file is committed once");
  Flush();
  const bool is_renamed = !temporary_.empty();
  if (is_renamed && ::fsync(descriptor_) != 0) {
    throw IoError(path_, "sync", errno);
  }
  if (is_renamed && ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw IoError(path_, "rename", errno);
  }
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) {
    throw IoError(path_, "close", errno);
  }
  if (is_renamed) {
    SyncDirectory(ParentFolder(path_));
  }
}

void WriteFileAtomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.Write(text);
  file.Commit();
}

std::string ReadWholeFile(const std::string& path, std::int64_t max_bytes) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw IoError(path, "stat", errno);
  }
  if (S_ISDIR(status.st_mode)) {
    throw IoError(path, "read", EISDIR);
  }
  if (status.st_size > max_bytes) {
    throw IoError(path + ": has " + std::to_string(status.st_size) +
                  " bytes, more than the limit of " +
                  std::to_string(max_bytes));
  }
  std::string text = ReadToEnd(file.get(), path, status.st_size, max_bytes);
  if (text.empty() && S_ISFIFO(status.st_mode)) {
    throw IoError(path + ": is a pipe without data");
  }
  return text;
}

void MakeFolder(const std::string& folder, std::string_view action) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw IoError(folder, action, error.value());
  }
}

void SyncDirectory(const std::string& directory) {
  const Descriptor folder(directory, O_RDONLY | O_DIRECTORY);
  if (::fsync(folder.get()) != 0) {
    throw IoError(directory, "sync", errno);
  }
}

}  // namespace infeed
