#pragma once

#include <string>

#include "records/cloud/cloud_settings.h"

namespace CLI {
class App;
}

// The flags for shards in the cloud, the same in all programs that read them.
namespace infeed {

struct CloudFlags {
  std::string cache_dir;
  std::string cache_size = "64GiB";
  int connections = CloudSettings().connections;
};

// Adds --cache_dir, --cache_size and --connections.
void AddCloudFlags(CLI::App& app, CloudFlags& flags);

// Adds only --connections, for programs that keep no shards in a cache.
void AddConnectionsFlag(CLI::App& app, CloudFlags& flags);

// Sets cloud_settings() except `stop`; warnings go to stderr. Throws
// UsageError.
void ApplyCloudFlags(const CloudFlags& flags);

}  // namespace infeed
