#include "tools/inspect/file_below.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace infeed {
namespace {

constexpr int kFileMode = 0666;  // Reduced by the user's umask.
constexpr int kFolderMode = 0777;

// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept
      : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { Close(); }
  [[nodiscard]] int get() const { return value_; }
  int Close() { return value_ < 0 ? 0 : ::close(std::exchange(value_, -1)); }

 private:
  int value_;
};

// Returns an errno value; 0: all bytes were written.
int WriteAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void CheckName(std::string_view name, std::string_view path) {
  if (name.empty() || name == "." || name == "..") {
    throw DataError("\"" + std::string(path) +
                    "\" is not a path below a folder");
  }
}

// Opens a folder's subfolder; creates it if it is missing. shown: its path in
// messages.
Descriptor OpenSubfolder(const Descriptor& folder, const std::string& name,
                         const std::string& shown) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (::mkdirat(folder.get(), name.c_str(), kFolderMode) != 0 &&
      errno != EEXIST) {
    throw IoError(shown, "create", errno);
  }
  Descriptor opened(::openat(folder.get(), name.c_str(), kFlags));
  if (opened.get() < 0) {
    const int error = errno;
    struct stat status {};
    if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        S_ISLNK(status.st_mode)) {
      throw IoError(shown +
                    ": is a symbolic link, which may lead outside the output "
                    "folder: remove it");
    }
    throw IoError(shown, "open", error);
  }
  return opened;
}

void WriteFileAt(const Descriptor& folder, const std::string& name,
                 const std::string& shown, std::span<const std::byte> bytes) {
  // Always the same name: the next run overwrites what a killed run left.
  const std::string temporary = name + ".part";
  Descriptor file(::openat(
      folder.get(), temporary.c_str(),
      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (file.get() < 0) {
    throw IoError(shown + ".part", "create", errno);
  }
  int error = WriteAll(file.get(), bytes);
  if (file.Close() != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && ::renameat(folder.get(), temporary.c_str(), folder.get(),
                               name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlinkat(folder.get(), temporary.c_str(), 0);
    throw IoError(shown, "write", error);
  }
}

}  // namespace

void WriteFileBelow(const std::string& folder, std::string_view path,
                    std::span<const std::byte> bytes) {
  Descriptor place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (place.get() < 0) {
    throw IoError(folder, "open", errno);
  }
  std::string shown = folder;
  std::string_view rest = path;
  while (true) {
    const std::size_t slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    CheckName(name, path);
    shown += "/" + name;
    if (slash == std::string_view::npos) {
      WriteFileAt(place, name, shown, bytes);
      return;
    }
    place = OpenSubfolder(place, name, shown);
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace infeed
