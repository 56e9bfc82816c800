#include "base/own_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/parent_folder.h"
#include "base/shown_text.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr int kFileMode = 0666;  // Reduced by the user's umask.
constexpr int kFolderMode = 0777;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool IsLink(int folder, const std::string& name) {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

// shown: the folder's path in messages.
Descriptor OpenOwnFolder(int parent, const std::string& name,
                         const std::string& shown) {
  Descriptor opened(::openat(parent, name.c_str(), kFolderFlags | O_NOFOLLOW));
  const int error = errno;
  if (opened.get() < 0 && IsLink(parent, name)) {
    throw IoError(shown +
                  ": is a symbolic link, which may lead anywhere: remove it");
  }
  if (opened.get() < 0) {
    throw IoError(shown, "open", error);
  }
  return opened;
}

// A folder's path, divided into the user's part and the program's names.
struct FolderPath {
  FolderPath(const std::string& folder, int own_names) : base(folder) {
    if (!base.has_filename()) {
      base = base.parent_path();  // It ends with a slash.
    }
    for (; own_names > 0 && base.has_filename(); --own_names) {
      names.insert(names.begin(), base.filename().string());
      base = base.parent_path();
    }
    if (base.empty()) {
      base = ".";
    }
  }

  fs::path base;
  std::vector<std::string> names;
};

}  // namespace

void RefuseUrl(const std::string& path, const std::string& flag) {
  if (BeginsAsUrl(path)) {
    throw UsageError(flag + (flag.empty() ? "" : " ") + UrlForMessages(path) +
                     ": is a URL: give a file or folder of this machine");
  }
}

void RequireParentFolder(const std::string& path) {
  std::error_code error;
  const std::string folder = ParentFolder(path);
  if (!fs::exists(folder, error) && !error) {
    throw IoError(path, "create: there is no folder " + folder, ENOENT);
  }
}

Descriptor OpenFolder(const std::string& folder, int own_names) {
  const FolderPath path(folder, own_names);
  Descriptor opened(::open(path.base.c_str(), kFolderFlags));
  if (opened.get() < 0) {
    throw IoError(path.base.string(), "open", errno);
  }
  fs::path shown = path.base;
  for (const std::string& name : path.names) {
    shown /= name;
    opened = OpenOwnFolder(opened.get(), name, shown.string());
  }
  return opened;
}

Descriptor MakeAndOpenFolder(const std::string& folder, int own_names) {
  RefuseUrl(folder);
  const FolderPath path(folder, own_names);
  std::error_code error;
  fs::create_directories(path.base, error);
  if (error) {
    throw IoError(path.base.string(), "create", error.value());
  }
  Descriptor opened = OpenFolder(path.base.string(), kNamedByUser);
  fs::path shown = path.base;
  for (const std::string& name : path.names) {
    shown /= name;
    if (::mkdirat(opened.get(), name.c_str(), kFolderMode) != 0 &&
        errno != EEXIST) {
      throw IoError(shown.string(), "create", errno);
    }
    opened = OpenOwnFolder(opened.get(), name, shown.string());
  }
  return opened;
}

Descriptor OpenOwnFile(const std::string& path, int own_names) {
  Check(own_names > 0, "the file is the program's");
  const std::string name = fs::path(path).filename().string();
  const Descriptor folder = OpenFolder(ParentFolder(path), own_names - 1);
  // O_NONBLOCK: opening a FIFO waits for nobody.
  Descriptor file(::openat(
      folder.get(), name.c_str(),
      O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
      kFileMode));
  struct stat status {};
  if (file.get() < 0 && IsLink(folder.get(), name)) {
    throw IoError(path + ": is a symbolic link: remove it");
  }
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw IoError(path, "open", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw IoError(path + ": is not a regular file: remove it");
  }
  if (status.st_nlink > 1) {
    throw IoError(path +
                  ": has a second name, a hard link, whose file would change, "
                  "too: put a copy in its place");
  }
  return file;
}

}  // namespace infeed
