#include "tools/quick_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace infeed {
namespace {

// Returns an errno, 0 when all was written.
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

}  // namespace

void WriteFileQuickly(const std::string& path,
                      std::span<const std::byte> bytes) {
  // Always the same name: what a killed run left is used up by the next.
  const std::string temporary = path + ".part";
  constexpr int kMode = 0666;  // As the user's umask allows.
  const int descriptor = ::open(
      temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (descriptor < 0) {
    throw IoError(temporary, "create", errno);
  }
  int error = WriteAll(descriptor, bytes);
  if (::close(descriptor) != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw IoError(path, "write", error);
  }
}

}  // namespace infeed
