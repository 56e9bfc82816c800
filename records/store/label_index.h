#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "records/store/record_index.h"

namespace infeed {

// The label of a record that has none, or that cannot be read.
inline constexpr std::int64_t kNoLabel = -1;

struct LabelIndexOptions {
  // Whether label files are read and written beside the shards.
  bool use_cache = true;
};

// Returns the label of each record, image/class/label as it stands there. Found
// by one pass over the data, which reads all of it, and kept like the index:
// one file a shard, tied to the shard's size and modification time
// (docs/formats.md). Throws IoError when a shard cannot be read; a label file
// that cannot be written is made anew the next time. Image files have the
// labels that the index was given, and nothing is read or kept.
[[nodiscard]] std::vector<std::int64_t> RecordLabels(
    const RecordIndex& index, const LabelIndexOptions& options = {});

// How many records have each label. As RecordLabels(), a shard at a time; the
// labels of image files are those that the index was given.
using LabelCounts = std::map<std::int64_t, std::int64_t>;
[[nodiscard]] LabelCounts CountLabels(const RecordIndex& index,
                                      const LabelIndexOptions& options = {});

}  // namespace infeed
