#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "records/bytes/byte_source.h"

namespace infeed {

// The shards of a list that are open for reading. Beyond the limit, or at the
// process's limit of open files, the least recently used ones are closed.
//
// Owns the sources together with their readers: a source that is dropped here
// is closed by its last reader. The list must outlive it. Thread-safe. Throws
// IoError when a shard cannot be opened.
class OpenShards {
 public:
  // Throws UsageError if max_open is 0. The limit does not apply if all shards
  // are objects without a local copy: these need no file descriptor, and
  // opening one again costs a request.
  OpenShards(const std::vector<std::string>& shards, std::size_t max_open);

  // Returns the source of shards[shard].
  [[nodiscard]] std::shared_ptr<const ByteSource> Open(std::int32_t shard);

 private:
  using Uses = std::list<std::int32_t>;
  struct Entry {
    std::shared_ptr<const ByteSource> source;
    Uses::iterator use;
  };

  std::shared_ptr<const ByteSource> OpenAnew(std::int32_t shard);
  void DropOldest();

  const std::vector<std::string>& shards_;
  const std::size_t max_open_;
  std::mutex mutex_;  // of the members below
  Uses uses_;         // the most recent first
  std::unordered_map<std::int32_t, Entry> open_;
};

}  // namespace infeed
