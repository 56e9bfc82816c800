#include "records/cloud/cloud_settings.h"

#include <mutex>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxBlockBytes = std::int64_t{1} << 30;
constexpr int kMaxConnections = 1024;

struct SharedSettings {
  std::mutex mutex;
  CloudSettings settings;
  std::uint64_t generation = 0;
};

SharedSettings& TheShared() {
  static SharedSettings shared;
  return shared;
}

void CheckRange(const char* name, std::int64_t value, std::int64_t least,
                std::int64_t most) {
  if (value < least || value > most) {
    throw UsageError(std::string("the cloud setting ") + name +
                     " must be between " + std::to_string(least) + " and " +
                     std::to_string(most) + ", not " + std::to_string(value));
  }
}

void CheckSettings(const CloudSettings& settings) {
  CheckRange("block_bytes", settings.block_bytes, 1, kMaxBlockBytes);
  CheckRange("part_bytes", settings.part_bytes, 1, kMaxBlockBytes);
  CheckRange("byte_budget", settings.byte_budget, settings.block_bytes,
             INT64_MAX);
  CheckRange("read_ahead_blocks", settings.read_ahead_blocks, 0,
             kMaxConnections);
  CheckRange("connections", settings.connections, 1, kMaxConnections);
  CheckRange("cache_bytes", settings.cache_bytes, 0, INT64_MAX);
  CheckRange("retry.attempts", settings.retry.attempts, 1, INT32_MAX);
}

}  // namespace

void SetCloudSettings(CloudSettings settings) {
  CheckSettings(settings);
  SharedSettings& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  shared.settings = std::move(settings);
  ++shared.generation;
}

CloudSettings cloud_settings() {
  SharedSettings& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  return shared.settings;
}

void EndCloudRequestsAt(const std::stop_token& stop) {
  CloudSettings settings = cloud_settings();
  settings.retry.stop = stop;
  SetCloudSettings(std::move(settings));
}

std::uint64_t cloud_settings_generation() {
  SharedSettings& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  return shared.generation;
}

}  // namespace infeed
