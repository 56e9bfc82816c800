#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "records/cloud/cloud_settings.h"
#include "records/cloud/fetch_pool.h"
#include "records/cloud/object_store.h"

namespace infeed {

// A limit on the memory that all cloud sources and sinks hold together. No call
// waits for room: a caller that gets none does without the memory, so that the
// budget can never cause a deadlock.
//
// Owned by a shared_ptr, of which every share holds a copy. Thread-safe. Does
// not fail.
class ByteBudget : public std::enable_shared_from_this<ByteBudget> {
 public:
  // A part of the budget; its last copy gives the bytes back.
  using Share = std::shared_ptr<const ByteBudget>;

  explicit ByteBudget(std::int64_t limit) : limit_(limit) {}

  // Returns null if there is no room. Requires: bytes >= 0.
  [[nodiscard]] Share TryTake(std::int64_t bytes);

  [[nodiscard]] std::int64_t held() const;
  // The most that was ever held at once.
  [[nodiscard]] std::int64_t peak() const;

 private:
  void Give(std::int64_t bytes);

  const std::int64_t limit_;
  mutable std::mutex mutex_;
  std::int64_t held_ = 0;
  std::int64_t peak_ = 0;
};

// The objects that all cloud sources and sinks of the process share.
// Thread-safe.
struct CloudRuntime {
  explicit CloudRuntime(CloudSettings the_settings);

  const CloudSettings settings;
  const ObjectStore store;
  const std::shared_ptr<ByteBudget> budget;
  // Destroyed first: its tasks use the other members.
  const std::unique_ptr<FetchPool> pool;
};

// Returns the process's runtime, made from cloud_settings() on first use and
// again after SetCloudSettings() and in a child of fork(). Holders of an older
// runtime can keep using it.
[[nodiscard]] std::shared_ptr<const CloudRuntime> SharedCloudRuntime();

}  // namespace infeed
