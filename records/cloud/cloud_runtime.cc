#include "records/cloud/cloud_runtime.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace infeed {

ByteBudget::Share ByteBudget::TryTake(std::int64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes > limit_ - held_) {
      return nullptr;
    }
    held_ += bytes;
    peak_ = std::max(peak_, held_);
  }
  return {this, [budget = shared_from_this(), bytes](const ByteBudget*) {
            budget->Give(bytes);
          }};
}

void ByteBudget::Give(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  held_ -= bytes;
  Check(held_ >= 0, "no more is given back than was taken");
}

std::int64_t ByteBudget::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

std::int64_t ByteBudget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

CloudRuntime::CloudRuntime(CloudSettings the_settings)
    : settings(std::move(the_settings)),
      store(settings),
      budget(std::make_shared<ByteBudget>(settings.byte_budget)),
      pool(std::make_unique<FetchPool>(settings.connections)) {}

namespace {

struct Shared {
  // A source that still exists when the process ends may hold the runtime.
  ~Shared() {
    if (runtime != nullptr) {
      runtime->pool->Stop();
    }
  }

  // Sets libcurl and OpenSSL up before the other members, so that they outlive
  // the threads, which sign and fetch until the end.
  HttpClient libraries;
  std::mutex mutex;
  std::shared_ptr<const CloudRuntime> runtime;
  // The runtime of the process that forked this one: never used, nor destroyed
  // before the process ends.
  std::shared_ptr<const CloudRuntime> inherited;
  std::uint64_t generation = 0;
};

}  // namespace

std::shared_ptr<const CloudRuntime> SharedCloudRuntime() {
  static Shared shared;
  const std::lock_guard lock(shared.mutex);
  if (shared.runtime != nullptr && !shared.runtime->pool->IsHere()) {
    shared.inherited = std::exchange(shared.runtime, nullptr);
  }
  const std::uint64_t now = cloud_settings_generation();
  if (shared.runtime == nullptr || shared.generation != now) {
    shared.runtime = std::make_shared<const CloudRuntime>(cloud_settings());
    shared.generation = now;
  }
  return shared.runtime;
}

}  // namespace infeed
