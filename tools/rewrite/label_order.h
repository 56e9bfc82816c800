#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/rewrite/bad_records.h"
#include "tools/rewrite/record_sequence.h"
#include "tools/rewrite/record_stream.h"
#include "tools/shards/plan.h"

namespace infeed {

// The records of one class in a LabelOrder.
struct LabelRange {
  std::int64_t label = 0;
  std::string name;  // the class's folder name, or "label-7"
  ShardRange range;  // of the order's positions
};

// The records of some shards, grouped by class.
struct LabelOrder {
  std::vector<std::int64_t> records;  // by their numbers
  std::vector<LabelRange> labels;     // ascending
};

// Reads every record's label. Records of a class keep their order; records that
// are not Examples go to `bad`. A record's number is its number in the
// sequence's index; without an index, its number among the good records. Names
// are unique and valid file names.
[[nodiscard]] LabelOrder OrderByLabel(const RecordSequence& sequence,
                                      const RecordStream::Open& open,
                                      BadRecords& bad,
                                      const std::function<void()>& on_record);

}  // namespace infeed
