#include "tools/inspect/file_below.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/own_files.h"
#include "base/parent_folder.h"

namespace infeed {
namespace {

constexpr int kFileMode = 0666;  // Reduced by the user's umask.
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

void WriteFileAt(const Descriptor& folder, const std::string& name,
                 const std::string& shown, std::span<const std::byte> bytes) {
  // Always the same name: the next run replaces what a killed run left.
  const std::string temporary = name + ".part";
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  Descriptor file(::openat(folder.get(), temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
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
  int folders = 0;
  std::string_view rest = path;
  for (std::size_t slash = 0; (slash = rest.find('/')) != rest.npos;) {
    CheckName(rest.substr(0, slash), path);
    rest.remove_prefix(slash + 1);
    ++folders;
  }
  CheckName(rest, path);
  const std::string shown = folder + "/" + std::string(path);
  WriteFileAt(folders == 0 ? OpenFolder(folder, kNamedByUser)
                           : MakeAndOpenFolder(ParentFolder(shown), folders),
              std::string(rest), shown, bytes);
}

}  // namespace infeed
