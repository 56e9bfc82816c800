#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>

#include "base/descriptor.h"

namespace infeed {

// Holds a lock between processes and threads until it is destroyed. On a file
// system without locks it holds none; work may then be done twice.
class FolderLock {
 public:
  // Waits for the lock; throws StoppedError soon after stop is requested. Each
  // place in the file is a separate lock; 0 is the one for the folder's room.
  FolderLock(const std::string& path, std::int64_t place,
             const std::stop_token& stop = {});

  // The place to lock for a hash: not 0, and a valid file offset.
  [[nodiscard]] static constexpr std::int64_t ToPlace(std::uint64_t hash) {
    return static_cast<std::int64_t>(hash >> 2) | 1;
  }

 private:
  Descriptor file_;
};

// A file being written in a CacheFolder, through mapped memory. The destructor
// removes it unless it was committed.
class CacheDraft {
 public:
  // Reserves the disk space. Throws IoError.
  CacheDraft(std::string path, std::int64_t size);
  ~CacheDraft();
  CacheDraft(const CacheDraft&) = delete;
  CacheDraft& operator=(const CacheDraft&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // Renames it to its final path. Throws IoError.
  void Commit(const std::string& path);

 private:
  std::string path_;
  Descriptor file_;
  std::span<std::byte> bytes_;
};

// A folder of complete files that several processes may share, limited in size;
// the least recently used files are removed first. A file's name is
// KEY-SIZE-CRC32C.
//
// The files lie in the folder kCacheName below the user's folder, marked by a
// CACHEDIR.TAG. Files with other names are neither counted nor removed.
//
// Thread-safe. Throws IoError.
inline constexpr char kCacheName[] = "infeed-shard-cache";
class CacheFolder {
 public:
  CacheFolder(const std::string& folder, std::int64_t max_bytes)
      : path_(folder + "/" + kCacheName), max_bytes_(max_bytes) {}

  // Makes the folder if it is missing. Throws when it has files but no
  // CACHEDIR.TAG: then another program made it.
  void Make() const;

  // Returns the file of this key and size and marks it as used now; nullopt
  // when there is none.
  [[nodiscard]] std::optional<std::string> Find(const std::string& key,
                                                std::int64_t size) const;

  // Removes files that are not in use until there is room, and reserves it.
  // nullptr when there cannot be enough.
  [[nodiscard]] std::unique_ptr<CacheDraft> Reserve(
      const std::string& key, std::int64_t size,
      const std::set<std::string>& in_use) const;

  // The path of a file with this key, size and checksum.
  [[nodiscard]] std::string PathFor(const std::string& key, std::int64_t size,
                                    std::uint32_t crc) const;
  // The checksum in a file's name.
  [[nodiscard]] static std::uint32_t ParseCrc(const std::string& path);

  [[nodiscard]] std::string lock_path() const { return path_ + "/lock"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::int64_t max_bytes_;
};

// $XDG_CACHE_HOME, else ~/.cache; "" if neither is set.
[[nodiscard]] std::string UserCacheFolder();

}  // namespace infeed
