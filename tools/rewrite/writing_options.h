#pragma once

#include <string>

#include "records/tfrecord/compression.h"

namespace CLI {
class App;
}

// The common flags of the verbs that write shards.
namespace infeed {

struct WritingOptions {
  std::string output = {};
  bool overwrite = false;
  bool dry_run = false;
  Compression compression = Compression::kNone;
  int threads = 0;        // 0: one per core
  bool skip_bad = false;  // if false a bad record ends the work
  std::string json = {};  // target of the report, which the caller writes
};

// Adds --output, --overwrite, --dry_run and --compression; what: the output's
// description in the help.
void AddWritingOptions(CLI::App* verb, WritingOptions& options,
                       const std::string& what);

// Adds --on_bad_record, which sets whether bad records are left out.
void AddBadRecordOption(CLI::App* verb, bool& skip_bad);

}  // namespace infeed
