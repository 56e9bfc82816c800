#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/images/tree.h"

namespace infeed {

enum class ShardLayout {
  kFlat,       // OUT/train-00000-of-00008; balanced shards
  kReference,  // OUT/train/train-00000-of-01024; the reference's chunks
};

struct PlanOptions {
  ShardLayout layout = ShardLayout::kFlat;
  // Of each split, 1..99999. 0: about 128 MB each, or in the reference's
  // layout its 1,024 and 128.
  std::int64_t shards = 0;
  // Instead of a number: shards of at most about so many bytes; 0: not given.
  std::int64_t shard_bytes = 0;
  // Bytes of every record where they do not depend on the file's; 0: they do.
  std::int64_t record_bytes = 0;
  std::uint64_t seed = 0;  // of the training images' order
};

struct PlannedShard {
  std::string name;  // relative to the output folder
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// One shard of a plan, by its place there.
struct ShardTask {
  std::size_t split = 0;
  std::size_t shard = 0;

  friend auto operator<=>(const ShardTask&, const ShardTask&) = default;
};

struct PlannedSplit {
  std::string name;
  std::vector<ImageFile> images;  // in the order of their records
  std::vector<PlannedShard> shards;
  std::int64_t bytes = 0;  // that its shards will have, nearly
};

// What a conversion writes, before anything is written.
struct ConversionPlan {
  std::uint64_t seed = 0;
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
// Python would with that seed, the others sorted. A function of its arguments
// alone. Throws UsageError for an option out of range.
[[nodiscard]] ConversionPlan PlanConversion(ImageTree tree,
                                            const PlanOptions& options);

// The shards in an output folder that the plan would leave behind there, which
// readers would take for part of the data: paths, sorted. Throws IoError.
[[nodiscard]] std::vector<std::string> StaleShards(
    const ConversionPlan& plan, const std::string& output_dir);

}  // namespace infeed
