#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>

namespace infeed {

// Holds a lock that processes and threads share, until its end. Where the file
// system has no locks it holds none: then work may be done twice.
class FolderLock {
 public:
  // Waits for it; throws StoppedError soon after stop asks for it. Each place
  // in the file is a lock of its own; 0 is the one on the folder's room.
  FolderLock(const std::string& path, std::int64_t place,
             const std::stop_token& stop = {});
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // The place for what has this hash: not 0, and one that a file can have.
  [[nodiscard]] static constexpr std::int64_t PlaceOf(std::uint64_t hash) {
    return static_cast<std::int64_t>(hash >> 2) | 1;
  }

 private:
  int descriptor_ = -1;
};

// A file that is being made in a CacheFolder: its bytes lie in memory that is
// the file's. Gone at its end unless committed.
class CacheDraft {
 public:
  // Takes the room on the disk. Throws IoError.
  CacheDraft(std::string path, std::int64_t size);
  ~CacheDraft();
  CacheDraft(const CacheDraft&) = delete;
  CacheDraft& operator=(const CacheDraft&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // Makes it a whole file under this name. Throws IoError.
  void Commit(const std::string& path);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::span<std::byte> bytes_;
};

// Whole files that several processes may share, up to a size; the least
// recently used go first. A file's name is KEY-SIZE-CRC32C.
//
// They lie in the folder kCacheName below the user's folder, marked by a
// CACHEDIR.TAG. Files of another name form are never counted nor removed.
//
// Thread-safe. Throws IoError.
inline constexpr char kCacheName[] = "infeed-shard-cache";
class CacheFolder {
 public:
  CacheFolder(const std::string& folder, std::int64_t max_bytes)
      : path_(folder + "/" + kCacheName), max_bytes_(max_bytes) {}

  // Makes the folder where it is missing. Throws when it has files but no
  // mark: somebody else made it.
  void Make() const;

  // A file of this key and size, used just now; nullopt when there is none.
  [[nodiscard]] std::optional<std::string> Find(const std::string& key,
                                                std::int64_t size) const;

  // Removes files that are not in use until there is room, and takes it.
  // nullptr when there cannot be enough.
  [[nodiscard]] std::unique_ptr<CacheDraft> Reserve(
      const std::string& key, std::int64_t size,
      const std::set<std::string>& in_use) const;

  // Where a file with this checksum belongs.
  [[nodiscard]] std::string PathFor(const std::string& key, std::int64_t size,
                                    std::uint32_t crc) const;
  // The checksum in a file's name.
  [[nodiscard]] static std::uint32_t CrcOf(const std::string& path);

  [[nodiscard]] std::string lock_path() const { return path_ + "/lock"; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::int64_t max_bytes_;
};

}  // namespace infeed
