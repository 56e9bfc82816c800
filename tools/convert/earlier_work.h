#pragma once

#include <string>
#include <vector>

#include "tools/convert/converter_options.h"
#include "tools/convert/finished_shard.h"
#include "tools/convert/plan.h"
#include "tools/convert/shard_converter.h"

// Finds the finished shards of an earlier run of the same conversion.
namespace infeed {

// Identifies the sources of planned shards: the options that change their
// bytes, and the path, size, modification time (of an object in a store: its
// ETag) and class of each image in order. Shards with equal fingerprints have
// equal bytes, and a changed image changes the fingerprint. The policy for bad
// images is left out: without bad images it changes nothing.
//
// plan must outlive it. Const members may be called from several threads at
// once. Throws IoError for an image that is no longer there.
class ShardFingerprints {
 public:
  ShardFingerprints(const ConversionPlan& plan,
                    const ConverterOptions& options);

  // 24 hex digits.
  [[nodiscard]] std::string Of(const ShardTask& task) const;

 private:
  const ConversionPlan& plan_;
  std::string options_;
};

// Identifies a conversion: its source, its seed and the options that change
// bytes, not the images. 24 hex digits, and a line in
// OUTPUT_DIR/.infeed/conversion while OUTPUT_DIR has shards of it.
[[nodiscard]] std::string ConversionKey(const ConversionPlan& plan,
                                        const ConverterOptions& options);

struct EarlierWork {
  std::vector<ShardResult> kept;           // in the plan's order
  std::vector<FingerprintedTask> missing;  // likewise; to be made
  // Paths of files that are there and that the missing shards replace.
  std::vector<std::string> replaced;
  // Of another conversion, or of no conversion: files that this one would
  // destroy. Some of `replaced`, labels.txt and dataset.json.
  std::vector<std::string> foreign;
};

// The shards of the plan that are this process's share, in order.
[[nodiscard]] std::vector<ShardTask> SelectTasks(const ConversionPlan& plan,
                                                 const TaskShare& share);

// A finished shard on disk, or why the shard must be made.
struct ShardState {
  FinishedShard shard;
  std::string problem;  // why it is not finished; empty: it is
};

// Checks a shard: it is finished when its side file has the fingerprint, bad
// images were treated by the policy in options, and the shard has the size, and
// with options.verify_resume the checksum, in the side file. Throws IoError.
[[nodiscard]] ShardState CheckShard(const std::string& output_dir,
                                    const std::string& name,
                                    const std::string& fingerprint,
                                    const ConverterOptions& options);

// Finds the finished shards of the share. Throws IoError.
[[nodiscard]] EarlierWork FindEarlierWork(const ConversionPlan& plan,
                                          const std::string& output_dir,
                                          const ConverterOptions& options);

// Makes the folder this conversion's: another one does not replace its files.
// Requires: the folder's .infeed exists. Throws IoError.
void WriteConversionKey(const ConversionPlan& plan,
                        const std::string& output_dir,
                        const ConverterOptions& options);

// Removes temporary files that dead processes of this machine left for shards
// of this share or of no plan, and for their side files. Temporary files of
// other shares may belong to another machine.
void RemoveDeadTemporaries(const ConversionPlan& plan,
                           const std::string& output_dir,
                           const TaskShare& share);

}  // namespace infeed
