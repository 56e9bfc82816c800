#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace infeed {

// Which mapped shards are in memory as far as is known, so that announcing
// their records to the page cache would only cost time: as many bytes as the
// shard has were announced, and since then the process did not have to wait for
// a page. Thread-safe.
class ResidentShards {
 public:
  explicit ResidentShards(std::size_t shards) : announced_(shards) {}

  // Pages that the process had to wait for since it began (ru_majflt). If there
  // are more than before, no shard counts as in memory any longer.
  void NoteMajorFaults(std::int64_t faults) {
    if (faults_.exchange(faults) != faults) {
      for (std::atomic<std::int64_t>& bytes : announced_) {
        bytes = 0;
      }
    }
  }

  // Returns whether a shard is in memory; else counts bytes of it that are to
  // be announced.
  [[nodiscard]] bool Has(std::size_t shard, std::int64_t bytes,
                         std::int64_t shard_bytes) {
    return announced_[shard].fetch_add(bytes) >= shard_bytes;
  }

 private:
  std::atomic<std::int64_t> faults_{0};
  std::vector<std::atomic<std::int64_t>> announced_;
};

}  // namespace infeed
