#pragma once

#include <memory>

#include "records/bytes/byte_budget.h"
#include "records/cloud/cloud_settings.h"
#include "records/cloud/fetch_pool.h"
#include "records/cloud/object_store.h"

namespace infeed {

// What all sources and sinks in the cloud share. Thread-safe.
struct CloudRuntime {
  explicit CloudRuntime(CloudSettings the_settings);

  const CloudSettings settings;
  const ObjectStore store;
  const std::shared_ptr<ByteBudget> budget;
  // Goes first: its tasks use the others.
  const std::unique_ptr<FetchPool> pool;
};

// The process's, made with cloud_settings() on first use and made anew after
// SetCloudSettings(); whoever holds an older one may go on.
[[nodiscard]] std::shared_ptr<const CloudRuntime> SharedCloudRuntime();

}  // namespace infeed
