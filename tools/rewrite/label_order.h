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
  std::string name;  // that of the class's folder, or "label-7"
  ShardRange range;  // of the order's positions
};

// The records of some shards with those of a class together.
struct LabelOrder {
  std::vector<std::int64_t> records;  // by their numbers
  std::vector<LabelRange> labels;     // ascending
};

// Reads every record's label. Records of a class stay in their order; those
// that are no Examples go to `bad`. A record's number is that in the sequence's
// index; without one, that among the good records. Names are fit for files, and
// each is there once.
[[nodiscard]] LabelOrder OrderByLabel(const RecordSequence& sequence,
                                      const RecordStream::Open& open,
                                      BadRecords& bad,
                                      const std::function<void()>& on_record);

}  // namespace infeed
