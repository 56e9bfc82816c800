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

// Adds --connections alone, where there are no shards to be kept.
void AddConnectionsFlag(CLI::App& app, CloudFlags& flags);

// Sets cloud_settings() but for their stop; their warning goes to stderr.
// Throws UsageError.
void ApplyCloudFlags(const CloudFlags& flags);

}  // namespace infeed
