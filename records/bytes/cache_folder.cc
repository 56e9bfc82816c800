#include "records/bytes/cache_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <regex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDraft = ".tmp-";
constexpr std::string_view kLock = "lock";
// A draft this old belongs to a process that was killed.
constexpr std::int64_t kDraftSeconds = 3600;
// The lock for the room in the folder; keys lock other places.
constexpr std::int64_t kRoomPlace = 0;

struct File {
  std::string path;
  std::int64_t bytes = 0;
  timespec used{};
};

bool IsDraft(const std::string& path) {
  return path.find(kDraft) != std::string::npos;
}

// The file that marks a cache folder, also for backup programs: see the Cache
// Directory Tagging Specification. Its first bytes are fixed.
constexpr char kTag[] = "CACHEDIR.TAG";
constexpr std::string_view kTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Copies of shards that infeed downloaded. They may be removed.\n";

bool HasTag(const std::string& folder) {
  const std::string path = folder + "/" + kTag;
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size == std::ssize(kTagText) &&
         ReadWholeFile(path, std::ssize(kTagText)) == kTagText;
}

// Whether a name has the form KEY-SIZE-CRC32C, or that of a draft,
// KEY.tmp-PROCESS-NUMBER.
bool IsOurs(const std::string& name) {
  static const std::regex form(
      "[0-9a-f]{16}(-[0-9]+-[0-9a-f]{8}|\\.tmp-[0-9]+-[0-9]+)");
  return std::regex_match(name, form);
}

// Sets an explicit time: file systems round UTIME_NOW.
void MarkUsed(const std::string& path) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::array<timespec, 2> times = {now, now};
  // Only the order of removal depends on it.
  (void)::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
}

// The cache's files and drafts, and no other files. Other processes may remove
// some of them meanwhile.
std::vector<File> FilesIn(const std::string& folder) {
  std::vector<File> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    struct stat status {};
    if (::lstat(entry->path().c_str(), &status) == 0 &&
        S_ISREG(status.st_mode) && IsOurs(entry->path().filename().string())) {
      files.push_back({.path = entry->path().string(),
                       .bytes = status.st_size,
                       .used = status.st_mtim});
    }
  }
  if (error) {
    throw IoError(folder, "read the folder", error.value());
  }
  return files;
}

bool MayRemove(const File& file, const std::set<std::string>& in_use) {
  if (!IsDraft(file.path)) {
    return !in_use.contains(file.path);
  }
  return ::time(nullptr) - file.used.tv_sec > kDraftSeconds;
}

// Removes the least recently used files until `bytes` more fit the limit.
bool MakeRoom(const std::string& folder, std::int64_t bytes,
              std::int64_t max_bytes, const std::set<std::string>& in_use) {
  if (bytes > max_bytes) {
    return false;  // It cannot fit: remove nothing.
  }
  std::vector<File> files = FilesIn(folder);
  std::int64_t held = 0;
  for (const File& file : files) {
    held += file.bytes;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) <
           std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const File& file : files) {
    if (held + bytes <= max_bytes) {
      break;
    }
    // Processes that have it open can go on reading.
    if (MayRemove(file, in_use) && ::unlink(file.path.c_str()) == 0) {
      held -= file.bytes;
    }
  }
  return held + bytes <= max_bytes;
}

// False when another descriptor holds the lock; true also on a file system
// without locks.
bool TryLock(int descriptor, struct flock& lock) {
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ||
         (errno != EAGAIN && errno != EACCES);
}

// Polls, since a wait in the kernel could not be ended by `stop`.
bool LockUnlessStopped(int descriptor, struct flock& lock,
                       const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock held(mutex);
  while (!TryLock(descriptor, lock)) {
    (void)never.wait_for(held, stop, kBetweenLooks, [] { return false; });
    if (stop.stop_requested()) {
      return false;
    }
  }
  return true;
}

}  // namespace

FolderLock::FolderLock(const std::string& path, std::int64_t place,
                       const std::stop_token& stop)
    : file_(OpenOwnFile(path, 1)) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  // An open-file-description lock, so that it also excludes this process's
  // other threads.
  if (stop.stop_possible()) {
    if (!LockUnlessStopped(file_.get(), lock, stop)) {
      throw StoppedError();
    }
    return;
  }
  while (::fcntl(file_.get(), F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
  }
}

CacheDraft::CacheDraft(std::string path, std::int64_t size)
    : path_(std::move(path)),
      file_(
          ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (file_.get() < 0) {
    throw IoError(path_, "create", errno);
  }
  // Reserve all room now: a write to mapped memory cannot report a full disk.
  int failed = !std::in_range<std::size_t>(size) ? ENOMEM
               : size > 0 ? ::posix_fallocate(file_.get(), 0, size)
                          : 0;
  void* memory = nullptr;
  if (failed == 0 && size > 0) {
    memory = ::mmap(nullptr, static_cast<std::size_t>(size),
                    PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    failed = memory == MAP_FAILED ? errno : 0;
  }
  if (failed != 0) {  // The destructor will not run.
    ::unlink(path_.c_str());
    throw IoError(path_, "reserve disk space", failed);
  }
  bytes_ = {static_cast<std::byte*>(memory), static_cast<std::size_t>(size)};
}

CacheDraft::~CacheDraft() {
  if (!bytes_.empty()) {
    ::munmap(bytes_.data(), bytes_.size());
  }
  if (!path_.empty()) {
    ::unlink(path_.c_str());
  }
}

void CacheDraft::Commit(const std::string& path) {
  if (::fsync(file_.get()) != 0) {
    throw IoError(path_, "sync", errno);
  }
  MarkUsed(path_);
  if (::rename(path_.c_str(), path.c_str()) != 0) {
    throw IoError(path, "rename", errno);
  }
  path_.clear();
}

void CacheFolder::Make() const {
  MakeFolder(path_, "create the cache", 1);
  if (HasTag(path_)) {
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (!IsOurs(name) && name != kLock && !name.starts_with(kTag)) {
      throw IoError(entry.path().string() +
                    ": is not a file of infeed's cache: move it away, or give "
                    "another folder for the cache");
    }
  }
  static std::mutex mutex;  // Threads would share the temporary file.
  const std::lock_guard lock(mutex);
  WriteFileAtomically(path_ + "/" + kTag, kTagText, kInOwnFolder);
}

std::optional<std::string> CacheFolder::Find(const std::string& key,
                                             std::int64_t size) const {
  const std::string start =
      path_ + "/" + key + "-" + std::to_string(size) + "-";
  for (const File& file : FilesIn(path_)) {
    struct stat status {};
    if (file.path.starts_with(start) && !IsDraft(file.path) &&
        ::stat(file.path.c_str(), &status) == 0 && status.st_size == size) {
      MarkUsed(file.path);
      return file.path;
    }
  }
  return std::nullopt;
}

std::unique_ptr<CacheDraft> CacheFolder::Reserve(
    const std::string& key, std::int64_t size,
    const std::set<std::string>& in_use) const {
  static std::atomic<int> number = 0;
  const FolderLock lock(lock_path(), kRoomPlace);
  if (!MakeRoom(path_, size, max_bytes_, in_use)) {
    return nullptr;
  }
  return std::make_unique<CacheDraft>(path_ + "/" + key + std::string(kDraft) +
                                          std::to_string(::getpid()) + "-" +
                                          std::to_string(number++),
                                      size);
}

std::string CacheFolder::PathFor(const std::string& key, std::int64_t size,
                                 std::uint32_t crc) const {
  std::array<char, 16> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", crc);
  return path_ + "/" + key + "-" + std::to_string(size) + "-" + hex.data();
}

std::uint32_t CacheFolder::ParseCrc(const std::string& path) {
  constexpr int kHex = 16;
  return static_cast<std::uint32_t>(
      std::strtoul(path.c_str() + path.rfind('-') + 1, nullptr, kHex));
}

std::string UserCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {  // XDG: ignore relative paths.
    return cache;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache" : "";
}

}  // namespace infeed
