#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "records/byte_source.h"

namespace infeed {

// A folder with whole copies of shards from the cloud, least recently used
// ones removed to stay under a size. Several processes may share a folder.
//
// Owns the copies' names, not the folder. Thread-safe. Open() throws what
// ObjectSource throws; a folder that cannot be used is no error.
class ShardCache {
 public:
  ShardCache(std::string folder, std::int64_t max_bytes);
  ~ShardCache();
  ShardCache(const ShardCache&) = delete;
  ShardCache& operator=(const ShardCache&) = delete;

  // The local copy of the object as it is now, downloaded first when there is
  // none, or the object itself when the folder cannot take it. The source's
  // path() is the URL and its version() the object's.
  [[nodiscard]] std::unique_ptr<ByteSource> Open(const std::string& url);

  // Why a copy could not be made, the first time that happens, and never
  // again; else "".
  [[nodiscard]] std::string TakeWarning();

 private:
  class Files;
  std::unique_ptr<Files> files_;
};

}  // namespace infeed
