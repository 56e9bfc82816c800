#pragma once

#include <memory>

#include "records/bytes/byte_budget.h"
#include "records/cloud/cloud_settings.h"
#include "records/cloud/fetch_pool.h"
#include "records/cloud/object_store.h"

namespace infeed {

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
