#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/bytes/cache_folder.h"
#include "records/cloud/object_store.h"

namespace infeed {

// A folder with complete copies of shards from the cloud; the least recently
// used copies are removed to stay below a size limit. Several processes may
// share a folder; each object is downloaded by one of them.
//
// Thread-safe. Open() throws what ObjectSource throws; an unusable folder is
// not an error.
class ShardCache {
 public:
  ShardCache(std::string folder, std::int64_t max_bytes)
      : folder_(std::move(folder), max_bytes) {}

  // Opens the local copy of the object's current version, downloading it first
  // if needed; opens the object itself when the folder cannot hold it. The
  // source's path() is the URL and its version() the object's.
  [[nodiscard]] std::unique_ptr<ByteSource> Open(const std::string& url);

 private:
  // The files that this process reads, and those whose checksum it has
  // verified.
  struct Uses {
    std::mutex mutex;
    std::map<std::string, int> counts;
    std::set<std::string> checked;
  };
  class CachedSource;

  // The state before a download: a copy; or room for a copy and the lock under
  // which it is made; or nothing.
  struct Place {
    std::unique_ptr<ByteSource> copy;
    std::unique_ptr<FolderLock> lock;
    std::unique_ptr<CacheDraft> draft;
  };
  [[nodiscard]] Place FindPlace(const std::string& url, const ObjectInfo& info);
  [[nodiscard]] std::unique_ptr<ByteSource> OpenCopy(const std::string& url,
                                                     const ObjectInfo& info);
  [[nodiscard]] bool IsSound(const ByteSource& copy, const std::string& path);
  [[nodiscard]] std::set<std::string> InUse();
  // Calls on_warning() of the settings, once.
  void Warn(const std::string& text);

  CacheFolder folder_;
  std::shared_ptr<Uses> uses_ = std::make_shared<Uses>();
  std::atomic<bool> warned_ = false;
};

// Returns the process's cache, made from cloud_settings(); nullptr when they
// have no cache folder.
[[nodiscard]] std::shared_ptr<ShardCache> SharedShardCache();

}  // namespace infeed
