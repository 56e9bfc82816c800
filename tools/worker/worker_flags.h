#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_service.h"
#include "tools/cli/cloud_flags.h"

namespace infeed {

struct WorkerFlags {
  std::string data_dir;             // or shards
  std::vector<std::string> splits;  // empty: all that the data set has
  std::string shards;
  bool allow_missing_shards = false;
  std::string listen = "127.0.0.1:9410";
  WorkerOptions worker;
  TlsFiles tls;
  CloudFlags cloud;
  bool dry_run = false;
};

// Parses the command line. nullopt: --help or the like was given and printed.
// Throws UsageError.
[[nodiscard]] std::optional<WorkerFlags> ReadWorkerFlags(int argc, char** argv);

}  // namespace infeed
