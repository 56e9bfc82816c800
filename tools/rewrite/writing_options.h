#pragma once

#include <string>

#include "records/tfrecord/compression.h"

namespace CLI {
class App;
}

// Flags that the verbs that write shards have in common.
namespace infeed {

struct WritingOptions {
  std::string output;
  bool overwrite = false;
  bool dry_run = false;
  Compression compression = Compression::kNone;
  int threads = 0;  // 0: one for each core
};

// Adds --output, --overwrite, --dry_run and --compression; `what` says in the
// help what the output is.
void AddWritingOptions(CLI::App* verb, WritingOptions& options,
                       const std::string& what);

// Adds --on_bad_record: whether bad records are left out.
void AddBadRecordOption(CLI::App* verb, bool& skip_bad);

}  // namespace infeed
