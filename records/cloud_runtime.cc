#include "records/cloud_runtime.h"

#include <mutex>
#include <utility>

namespace infeed {

CloudRuntime::CloudRuntime(CloudSettings the_settings)
    : settings(std::move(the_settings)),
      store(settings),
      budget(std::make_shared<ByteBudget>(settings.byte_budget)),
      pool(std::make_unique<FetchPool>(settings.connections)) {}

std::shared_ptr<const CloudRuntime> SharedCloudRuntime() {
  static std::mutex mutex;
  static std::shared_ptr<const CloudRuntime> runtime;
  static std::uint64_t generation = 0;
  const std::lock_guard lock(mutex);
  const std::uint64_t now = cloud_settings_generation();
  if (runtime == nullptr || generation != now) {
    runtime = std::make_shared<const CloudRuntime>(cloud_settings());
    generation = now;
  }
  return runtime;
}

}  // namespace infeed
