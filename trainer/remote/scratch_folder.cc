#include "trainer/remote/scratch_folder.h"

#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/cache_folder.h"
#include "records/bytes/fnv_hash.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnPrefix = "process-";
constexpr std::size_t kMaxReadable = 80;

// A folder name for a URL: a readable part, and a part that makes it unique.
std::string FolderName(std::string url) {
  while (url.ends_with('/')) {
    url.pop_back();
  }
  const std::uint64_t hash = FnvHash(url);
  std::ranges::replace_if(
      url,
      [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '.'; },
      '_');
  return fmt::format("{}-{:016x}", url.substr(0, kMaxReadable), hash);
}

// Written into the lock file of a process's own folder. Only a folder with this
// mark is removed as a leftover.
constexpr std::string_view kMark =
    "A scratch folder of infeed's; removed when its process has ended.\n";

std::string LockPath(const std::string& folder) { return folder + "/lock"; }

bool HasMark(const std::string& folder) {
  const std::string path = LockPath(folder);
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(folder, ignored)) &&
         fs::is_regular_file(fs::symlink_status(path, ignored)) &&
         fs::file_size(path, ignored) == kMark.size() &&
         ReadWholeFile(path, std::ssize(kMark)) == kMark;
}

// Opens and locks a folder's lock file; none when another process has it.
Descriptor TryLock(const std::string& folder) {
  const std::string path = LockPath(folder);
  Descriptor file = OpenOwnFile(path, kInOwnFolder);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
    return file;
  }
  if (errno != EWOULDBLOCK) {
    throw IoError(path, "lock", errno);
  }
  return Descriptor();
}

// Whether no file in the folder waits for its upload.
bool IsIdle(const std::string& folder) {
  return NamesInFolder(folder + "/outbox").empty();
}

// Removes the scratch folders of killed processes.
void RemoveLeftovers(const std::string& base) {
  for (const std::string& name : NamesInFolder(base)) {
    const std::string folder = PathIn(base, name);
    if (!name.starts_with(kOwnPrefix) || !HasMark(folder) || !IsIdle(folder)) {
      continue;
    }
    if (const Descriptor lock = TryLock(folder); lock.is_open()) {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  }
}

}  // namespace

ScratchFolder ScratchFolder::OfUrl(const std::string& base,
                                   const std::string& url) {
  std::string path = PathIn(base, FolderName(url));
  MakeFolder(path, "make the scratch folder");
  Descriptor lock = TryLock(path);
  if (!lock.is_open()) {
    throw UsageError(fmt::format(
        "model_dir={}: another process on this machine writes to it ({} is "
        "locked): wait until it ends, or give another model_dir",
        url, path));
  }
  return {std::move(path), std::move(lock), false};
}

ScratchFolder ScratchFolder::OfThisProcess(const std::string& base) {
  MakeFolder(base, "make the scratch folder");
  // A new folder is not locked yet; other processes must not remove it as a
  // leftover.
  const FolderLock turn(PathIn(base, "lock"), 0);
  RemoveLeftovers(base);
  std::string path = PathIn(base, fmt::format("{}XXXXXX", kOwnPrefix));
  if (::mkdtemp(path.data()) == nullptr) {
    throw IoError(path, "make the scratch folder", errno);
  }
  WriteFileAtomically(LockPath(path), kMark);
  Descriptor lock = TryLock(path);
  Check(lock.is_open(), "no other process has locked a new folder");
  return {std::move(path), std::move(lock), true};
}

ScratchFolder::~ScratchFolder() {
  if (goes_) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
}

std::string DefaultScratchBase() {
  const std::string cache = UserCacheFolder();
  if (cache.empty()) {
    throw UsageError(
        "--local_scratch_dir: must be given, since HOME is not set and there "
        "is no default");
  }
  return PathIn(cache, "infeed/runs");
}

}  // namespace infeed
