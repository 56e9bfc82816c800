#include "records/store/packed_store.h"

#include <algorithm>

#include "base/error.h"

namespace infeed {

PackedStore::PackedStore(const RecordIndex& index,
                         const PackedStoreOptions& options, Open open)
    : passed_(options.max_passed_bytes),
      max_open_shards_(options.max_open_shards),
      shards_(index.shards().size()) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (index.compression(i) != Compression::kNone) {
      shards_[i] = std::make_unique<PackedShard>(
          index, first, index.shard_size(i), options.near_records, passed_,
          [open, i] { return open(static_cast<std::int32_t>(i)); });
    }
    first += index.shard_size(i);
  }
}

std::size_t PackedStore::Read(std::int64_t record, std::int32_t shard,
                              Access access, std::vector<std::byte>& buffer) {
  if (access == Access::kInOrder) {
    Use(shard);
  }
  return shards_[static_cast<std::size_t>(shard)]->Read(record, access, buffer);
}

std::int64_t PackedStore::restarts() const {
  std::int64_t restarts = 0;
  for (const std::unique_ptr<PackedShard>& shard : shards_) {
    restarts += shard == nullptr ? 0 : shard->restarts();
  }
  return restarts;
}

// Marks the shard as the most recently used, and closes the least recently used
// one if too many are open.
void PackedStore::Use(std::int32_t shard) {
  std::int32_t oldest = shard;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(uses_.begin(), uses_.end(), shard);
    if (found != uses_.end()) {
      uses_.splice(uses_.begin(), uses_, found);
      return;
    }
    uses_.push_front(shard);
    if (uses_.size() > max_open_shards_) {
      oldest = uses_.back();
      uses_.pop_back();
    }
  }
  if (oldest != shard) {
    shards_[static_cast<std::size_t>(oldest)]->Close();
  }
}

}  // namespace infeed
