#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "records/http/options.h"

namespace infeed {

// How objects in the cloud are read and written, for the whole process.
struct CloudSettings {
  RetryPolicy retry;
  HttpClientOptions http;
  // Size of the ranges that are read ahead.
  std::int64_t block_bytes = std::int64_t{8} << 20;
  int read_ahead_blocks = 4;
  // Threads that fetch and upload, each with its own connection.
  int connections = 16;
  // Memory limit of all read-ahead and uploads of the process.
  std::int64_t byte_budget = std::int64_t{512} << 20;
  // The smallest part of an upload; S3 requires at least 5 MiB.
  std::int64_t part_bytes = std::int64_t{8} << 20;
  // Folder that caches complete shards, up to cache_bytes; "": no cache.
  std::string cache_folder{};
  std::int64_t cache_bytes = std::int64_t{64} << 30;
  // Called at most once per process, when the cache cannot be used.
  std::function<void(const std::string&)> on_warning{};
};

// Throws UsageError naming the setting that is out of range. Call it before the
// first URL is opened: open sources and sinks keep their settings.
void SetCloudSettings(CloudSettings settings);
[[nodiscard]] CloudSettings cloud_settings();
// Sets retry.stop of the settings.
void EndCloudRequestsAt(const std::stop_token& stop);
// How often the settings were set: objects made from them are made again when
// this number has grown.
[[nodiscard]] std::uint64_t cloud_settings_generation();

}  // namespace infeed
