#pragma once

#include <string>
#include <vector>

#include "tools/conversion_plan.h"
#include "tools/converter_options.h"
#include "tools/shard_converter.h"

// What an earlier run of the same conversion left in the output folder.
namespace infeed {

struct EarlierWork {
  std::vector<ShardResult> kept;           // in the plan's order
  std::vector<FingerprintedTask> missing;  // likewise; they are made anew
};

// The shards of the plan that are this process's share, in order.
[[nodiscard]] std::vector<ShardTask> TasksOf(const ConversionPlan& plan,
                                             const TaskShare& share);

// Finds out which of the share's shards are finished: the side file has the
// fingerprint that the plan gives, no bad image was treated by another policy,
// and the shard has the size that the side file says, and with
// options.verify_resume the checksum. Throws IoError.
[[nodiscard]] EarlierWork FindEarlierWork(const ConversionPlan& plan,
                                          const std::string& output_dir,
                                          const ConverterOptions& options);

// Says what is wrong with a shard on disk; empty: it has the size of its side
// file, and with read_it the checksum. Throws IoError when it cannot be read.
[[nodiscard]] std::string Mismatch(const std::string& output_dir,
                                   const DatasetInfo::Shard& shard,
                                   bool read_it);

// Removes the temporary files of processes that are no longer alive on this
// machine, of shards of this share and of no plan, and their side files. Those
// of other shares may belong to another machine.
void RemoveDeadTemporaries(const ConversionPlan& plan,
                           const std::string& output_dir,
                           const TaskShare& share);

}  // namespace infeed
