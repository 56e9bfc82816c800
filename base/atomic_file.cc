#include "base/atomic_file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/parent_folder.h"

namespace infeed {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::string_view kTemporary = ".tmp-";

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

Descriptor OpenToRead(const std::string& path, int flags) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (file.get() < 0) {
    throw IoError(path, "open", errno);
  }
  return file;
}

// Waits until the pipe can be read, or until a stop. A stop makes the event
// readable, so that one from before the wait is seen as well. Without a stop
// token, signals that the process has blocked are let through meanwhile, so
// that a user can interrupt a wait for a writer that never comes. Throws
// IoError after a stop, or a signal that has a handler.
void AwaitBytes(int descriptor, const std::string& path,
                const std::stop_token& stop) {
  const bool may_stop = stop.stop_possible();
  const Descriptor event(may_stop ? ::eventfd(0, EFD_CLOEXEC) : -1);
  if (may_stop && event.get() < 0) {
    throw IoError(path, "wait for", errno);
  }
  const std::stop_callback raise(
      stop, [&event] { (void)::eventfd_write(event.get(), 1); });
  std::array<pollfd, 2> ready = {
      {{descriptor, POLLIN, 0}, {event.get(), POLLIN, 0}}};  // -1: ignored
  sigset_t none;
  sigemptyset(&none);
  int result = 0;
  do {
    result = ::ppoll(ready.data(), ready.size(), nullptr,
                     may_stop ? nullptr : &none);
  } while (result < 0 && errno == EINTR && may_stop);
  if (result < 0 || stop.stop_requested()) {
    throw IoError(path, "read", result < 0 ? errno : EINTR);
  }
}

// Reads until the end of a file or pipe of about `expected` bytes.
std::string ReadToEnd(int descriptor, const std::string& path,
                      std::int64_t expected, std::int64_t max_bytes,
                      const std::stop_token& stop) {
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
      AwaitBytes(descriptor, path, stop);
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

void CheckReadable(const struct stat& status, const std::string& path,
                   bool may_be_pipe, std::int64_t max_bytes) {
  if (S_ISDIR(status.st_mode)) {
    throw IoError(path, "read", EISDIR);
  }
  if (!S_ISREG(status.st_mode) && !may_be_pipe) {
    throw IoError(path + ": is not a regular file");
  }
  if (status.st_size > max_bytes) {
    throw IoError(path + ": has " + std::to_string(status.st_size) +
                  " bytes, more than the limit of " +
                  std::to_string(max_bytes));
  }
}

std::string ReadFile(const std::string& path, bool may_be_pipe,
                     std::int64_t max_bytes, const std::stop_token& stop) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const Descriptor file = OpenToRead(path, O_NONBLOCK);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw IoError(path, "stat", errno);
  }
  CheckReadable(status, path, may_be_pipe, max_bytes);
  std::string text =
      ReadToEnd(file.get(), path, status.st_size, max_bytes, stop);
  if (text.empty() && S_ISFIFO(status.st_mode)) {
    throw IoError(path + ": is a pipe without data");
  }
  return text;
}

std::string NameIn(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Throws where rename() would refuse to put a file, after all was written.
void RefuseFolder(int folder, const std::string& path) {
  if (path.empty()) {
    throw IoError("the name of the file to write is empty");
  }
  const std::string name = NameIn(path);
  struct stat status {};
  if (name.empty() ||
      (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
       S_ISDIR(status.st_mode))) {
    throw IoError(path, "write", EISDIR);
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string path, int own_names)
    : path_(own_names == kNamedByUser ? Followed(std::move(path))
                                      : std::move(path)) {
  if (own_names == kNamedByUser && IsSpecialFile(path_)) {
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) {
      throw IoError(path_, "create", errno);
    }
    return;
  }
  if (own_names == kNamedByUser) {
    RefuseUrl(path_);
    RequireParentFolder(path_);
  }
  try {
    folder_ = OpenFolder(ParentFolder(path_), std::max(own_names - 1, 0));
  } catch (const IoError& error) {
    if (error.errno_value() == 0) {
      throw;
    }
    throw IoError(path_, "create", error.errno_value());
  }
  RefuseFolder(folder_.get(), path_);
  OpenTemporary();
}

// The process number names the writer, whose files are removed when it has been
// killed. What is at the name already, of another thread, container or
// stranger, is left alone.
void AtomicFile::OpenTemporary() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  constexpr int kTries = 1000;
  const std::string first =
      NameIn(path_).append(kTemporary) + std::to_string(::getpid());
  std::string name = first;
  for (int i = 1; i <= kTries && file_.get() < 0; ++i) {
    file_ = Descriptor(::openat(folder_.get(), name.c_str(), kFlags, 0666));
    if (file_.get() >= 0) {
      temporary_ = name;
    } else if (errno != EEXIST || i == kTries) {
      throw IoError(path_, "create", errno);
    }
    name = first + "-" + std::to_string(i);
  }
}

std::string_view NameOfLeftover(std::string_view temporary) {
  const std::size_t mark = temporary.rfind(kTemporary);
  if (mark == std::string_view::npos) {
    return "";
  }
  const std::string_view digits = temporary.substr(mark + kTemporary.size());
  pid_t process = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, process);
  const bool is_number =
      error == std::errc() && process > 0 && (end == last || *end == '-');
  return is_number && ::kill(process, 0) != 0 && errno == ESRCH
             ? temporary.substr(0, mark)
             : "";
}

AtomicFile::~AtomicFile() {
  if (file_.get() >= 0 && !temporary_.empty()) {
    ::unlinkat(folder_.get(), temporary_.c_str(), 0);
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
  WriteAll(file_.get(), path_, buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::Commit() {
  Check(file_.get() >= 0, "a file is committed once");
  Flush();
  const bool is_renamed = !temporary_.empty();
  if (is_renamed && ::fsync(file_.get()) != 0) {
    throw IoError(path_, "sync", errno);
  }
  if (is_renamed && ::renameat(folder_.get(), temporary_.c_str(), folder_.get(),
                               NameIn(path_).c_str()) != 0) {
    throw IoError(path_, "rename", errno);
  }
  if (file_.Close() != 0) {
    throw IoError(path_, "close", errno);
  }
  if (is_renamed && ::fsync(folder_.get()) != 0) {
    throw IoError(ParentFolder(path_), "sync", errno);
  }
}

void WriteFileAtomically(const std::string& path, std::string_view text,
                         int own_names) {
  AtomicFile file(path, own_names);
  file.Write(text);
  file.Commit();
}

std::string ReadWholeFile(const std::string& path, std::int64_t max_bytes) {
  return ReadFile(path, false, max_bytes, {});
}

std::string ReadFileOrPipe(const std::string& path, std::int64_t max_bytes,
                           const std::stop_token& stop) {
  return ReadFile(path, true, max_bytes, stop);
}

void MakeFolder(const std::string& folder, std::string_view action,
                int own_names) {
  RefuseUrl(folder);
  if (own_names > 0) {
    (void)MakeAndOpenFolder(folder, own_names);
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw IoError(folder, action, error.value());
  }
}

void RemoveFile(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) {
    throw IoError(path, "remove", error.value());
  }
}

void SyncDirectory(const std::string& directory) {
  const Descriptor folder = OpenToRead(directory, O_DIRECTORY);
  if (::fsync(folder.get()) != 0) {
    throw IoError(directory, "sync", errno);
  }
}

}  // namespace infeed
