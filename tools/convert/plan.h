#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "records/store/image_tree.h"

namespace infeed {

enum class ShardFormat {
  kTfrecord,    // files of tf.train.Examples
  kWebdataset,  // tars of samples, for the Python package webdataset
};

enum class ShardLayout {
  // OUT/train-00000-of-00008, of tars OUT/train-000000.tar; balanced shards
  kFlat,
  kReference,  // OUT/train/train-00000-of-01024; the reference's chunks
};

struct PlanOptions {
  ShardFormat format = ShardFormat::kTfrecord;
  ShardLayout layout = ShardLayout::kFlat;  // of tars always kFlat
  // Shards per split, 1..99999. 0: shards of about 128 MB, or in the
  // reference's layout 1,024 for train and 128 for validation.
  std::int64_t shards = 0;
  // The approximate size limit of a shard, instead of a number; 0: not given.
  std::int64_t shard_bytes = 0;
  // Bytes of every record, if all have the same; 0: they depend on the file.
  std::int64_t record_bytes = 0;
  std::uint64_t seed = 0;  // for the training images' order
  // Names the input and how it is read: a conversion of another input into the
  // same folder is another conversion, one of changed images is not.
  std::string source = {};
  // The input's folder, if it has another name in each run: fingerprints leave
  // it out of the images' paths. Empty: it has not.
  std::string passing_folder = {};
};

struct PlannedShard {
  std::string name;  // relative to the output folder
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// One shard of a plan, by its index in the plan.
struct ShardTask {
  std::size_t split = 0;
  std::size_t shard = 0;

  friend auto operator<=>(const ShardTask&, const ShardTask&) = default;
};

// One process's share of a conversion that several processes do together: the
// items k with k % count == index.
struct TaskShare {
  std::int64_t index = 0;
  std::int64_t count = 1;

  [[nodiscard]] bool Has(std::int64_t item) const {
    return item % count == index;
  }
  // Whether this is the only process.
  [[nodiscard]] bool IsAll() const { return count == 1; }
};

struct PlannedSplit {
  std::string name;
  std::vector<ImageFile> images;  // in the order of their records
  std::vector<PlannedShard> shards;
  std::int64_t bytes = 0;  // of its shards, estimated
};

// The shards that a conversion will write.
struct ConversionPlan {
  ShardFormat format = ShardFormat::kTfrecord;
  std::uint64_t seed = 0;
  std::string source;          // as in PlanOptions
  std::string passing_folder;  // as in PlanOptions
  std::vector<ImageClass> classes;
  std::vector<PlannedSplit> splits;
  std::shared_ptr<const RawImages> raw;    // as in ImageTree
  std::vector<DuplicateGroup> duplicates;  // as in ImageTree
  std::vector<LeftOut> left_out;           // as in ImageTree

  [[nodiscard]] std::int64_t images() const;
  [[nodiscard]] std::int64_t shards() const;
  [[nodiscard]] const PlannedShard& At(const ShardTask& task) const {
    return splits[task.split].shards[task.shard];
  }
};

// Orders the images and divides them into shards: training images shuffled as
// Python does with that seed, the others sorted. The plan depends on the
// arguments alone. Throws UsageError for an option out of range.
[[nodiscard]] ConversionPlan PlanConversion(ImageTree tree,
                                            const PlanOptions& options);

// Whether a base name is that of a tar that a conversion writes:
// "train-000003.tar".
[[nodiscard]] bool IsTarShardName(std::string_view base_name);

// The names of all shards, relative to the output folder.
[[nodiscard]] std::vector<std::string> ShardNames(const ConversionPlan& plan);

// The sorted paths of shards in the output folder that are not in the plan:
// readers would take them for part of the data. Throws IoError.
[[nodiscard]] std::vector<std::string> StaleShards(
    const ConversionPlan& plan, const std::string& output_dir);

// The paths that a conversion writes or removes in the output folder: the
// plan's shards, stale shards, and the files that describe them. Throws
// IoError.
[[nodiscard]] std::vector<std::string> OutputPaths(
    const ConversionPlan& plan, const std::string& output_dir);

}  // namespace infeed
