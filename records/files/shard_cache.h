#pragma once

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

// A folder with whole copies of shards from the cloud, least recently used
// ones removed to stay under a size. Several processes may share a folder; each
// object is downloaded by one of them.
//
// Thread-safe. Open() throws what ObjectSource throws; a folder that cannot be
// used is no error.
class ShardCache {
 public:
  ShardCache(std::string folder, std::int64_t max_bytes)
      : folder_(std::move(folder), max_bytes) {}

  // The local copy of the object as it is now, downloaded first when there is
  // none, or the object itself when the folder cannot take it. The source's
  // path() is the URL and its version() the object's.
  [[nodiscard]] std::unique_ptr<ByteSource> Open(const std::string& url);

  // Why a copy could not be made, the first time that happens, and never
  // again; else "".
  [[nodiscard]] std::string TakeWarning();

 private:
  // The files that this process reads, and those whose checksum it knows to be
  // right.
  struct Uses {
    std::mutex mutex;
    std::map<std::string, int> counts;
    std::set<std::string> checked;
  };
  class CachedSource;

  // What there is before the first byte is fetched: a copy, or room for one and
  // the lock under which it is made, or nothing.
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
  void Warn(const std::string& text);

  CacheFolder folder_;
  std::shared_ptr<Uses> uses_ = std::make_shared<Uses>();
  std::mutex warning_mutex_;
  bool warned_ = false;
  std::string warning_;
};

// The process's, as cloud_settings() say; nullptr when they name no folder.
[[nodiscard]] std::shared_ptr<ShardCache> SharedShardCache();

}  // namespace infeed
