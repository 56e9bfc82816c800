#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/rewrite/record_stream.h"
#include "tools/shards/record_pass.h"

namespace infeed {

// The records of a class, and the name of the shard for them:
// PREFIX-CLASS-00000-of-00001. CLASS is the class's folder name
// (image/class/synset), or "label-7" if records have none or its words would
// make the shard one of another split.
struct RecordClass {
  std::string shard;
  std::vector<std::int64_t> records;
};

// Reads every record's label and returns the classes in the order of labels.
// Records of a class keep their order; records that are not Examples go to
// `bad`. A record's number is its number in the sequence's index; without an
// index, its number among the good records. Throws IoError, and what `bad`
// throws.
[[nodiscard]] std::vector<RecordClass> ClassesByLabel(
    const RecordSequence& sequence, const std::string& prefix,
    const ShardOpener& open, BadRecords& bad,
    const std::function<void()>& on_record);

}  // namespace infeed
