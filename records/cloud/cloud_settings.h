#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "records/http/http_client.h"
#include "records/http/http_retry.h"

namespace infeed {

// How objects in the cloud are read and written, for the whole process.
struct CloudSettings {
  RetryPolicy retry;
  HttpClientOptions http;
  // Reads ahead are ranges of this size.
  std::int64_t block_bytes = std::int64_t{8} << 20;
  int read_ahead_blocks = 4;
  // Threads that fetch and upload, each with its connection.
  int connections = 16;
  // What all reads ahead and uploads of the process may hold in memory.
  std::int64_t byte_budget = std::int64_t{512} << 20;
  // The smallest part of an upload; S3 wants 5 MiB at least.
  std::int64_t part_bytes = std::int64_t{8} << 20;
  // Whole shards are kept here, up to cache_bytes; "": no cache.
  std::string cache_folder{};
  std::int64_t cache_bytes = std::int64_t{64} << 30;
  // Told, once a process, when the cache cannot be used.
  std::function<void(const std::string&)> on_warning{};
};

// Throws UsageError naming the setting that is out of range. Requires: called
// before the first URL is opened; what is open keeps the settings it had.
void SetCloudSettings(CloudSettings settings);
[[nodiscard]] CloudSettings cloud_settings();
// Sets retry.stop of them.
void EndCloudRequestsAt(const std::stop_token& stop);
// How often they were set: what is made from them is made anew when it grows.
[[nodiscard]] std::uint64_t cloud_settings_generation();

}  // namespace infeed
