#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"

namespace infeed {

struct LabelIndexOptions {
  // Whether label files are read and written beside the shards.
  bool use_cache = true;
  // The key of the labels in the records; the standard key is replaced by
  // FindKeys().
  std::string label_key{kLabelKey};
};

// Returns the stored label of each record. The first call reads all data once
// and keeps the labels in a side file per shard and key, tied to the shard's
// size and modification time (docs/formats.md). Throws IoError when a shard
// cannot be read; a label file that cannot be written is made again the next
// time. The labels of shards without Examples are in the index; nothing is read
// or written for them.
[[nodiscard]] std::vector<std::int64_t> RecordLabels(
    const RecordIndex& index, const LabelIndexOptions& options = {});

// The number of records with each label. As RecordLabels(), but holds the
// labels of only one shard in memory at a time.
using LabelCounts = std::map<std::int64_t, std::int64_t>;
[[nodiscard]] LabelCounts CountLabels(const RecordIndex& index,
                                      const LabelIndexOptions& options = {});

}  // namespace infeed
