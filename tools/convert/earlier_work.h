#pragma once

#include <string>
#include <vector>

#include "tools/convert/converter_options.h"
#include "tools/convert/finished_shard.h"
#include "tools/convert/plan.h"
#include "tools/convert/shard_converter.h"
#include "tools/convert/shard_fingerprint.h"

// What an earlier run of the same conversion left in the output folder.
namespace infeed {

struct EarlierWork {
  std::vector<ShardResult> kept;           // in the plan's order
  std::vector<FingerprintedTask> missing;  // likewise; they are made anew
};

// The shards of the plan that are this process's share, in order.
[[nodiscard]] std::vector<ShardTask> TasksOf(const ConversionPlan& plan,
                                             const TaskShare& share);

// A shard on disk, if it is what a plan asks for.
struct ShardState {
  FinishedShard shard;
  std::string problem;  // why it is not; empty: it is
};

// Looks at a shard: it is finished when its side file has the fingerprint, no
// bad image was treated by another policy than options say, and the shard has
// the size that the side file says, and with options.verify_resume the
// checksum. Throws IoError.
[[nodiscard]] ShardState StateOf(const std::string& output_dir,
                                 const std::string& name,
                                 const std::string& fingerprint,
                                 const ConverterOptions& options);

// Finds out which of the share's shards are finished. Throws IoError.
[[nodiscard]] EarlierWork FindEarlierWork(const ConversionPlan& plan,
                                          const std::string& output_dir,
                                          const ConverterOptions& options);

// Removes the temporary files of processes that are no longer alive on this
// machine, of shards of this share and of no plan, and their side files. Those
// of other shares may belong to another machine.
void RemoveDeadTemporaries(const ConversionPlan& plan,
                           const std::string& output_dir,
                           const TaskShare& share);

}  // namespace infeed
