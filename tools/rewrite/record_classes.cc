#include "tools/rewrite/record_classes.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"
#include "tools/cli/safe_name.h"

namespace infeed {
namespace {

struct NamedRecords {
  std::string name;  // the class's folder name; "": the records have none
  std::vector<std::int64_t> records;
};

// The number of the first record of each shard; empty without an index.
std::vector<std::int64_t> FirstRecords(const RecordSequence& sequence) {
  std::vector<std::int64_t> starts;
  std::int64_t next = 0;
  if (const RecordIndex* const index = sequence.index()) {
    for (std::size_t i = 0; i < index->shards().size(); ++i) {
      starts.push_back(next);
      next += index->shard_size(i);
    }
  }
  return starts;
}

std::map<std::int64_t, NamedRecords> RecordsByLabel(
    const RecordSequence& sequence, const ShardOpener& open, BadRecords& bad,
    const std::function<void()>& on_record) {
  const std::vector<std::int64_t> starts = FirstRecords(sequence);
  const std::vector<std::string>& shards = sequence.shards();
  std::map<std::int64_t, NamedRecords> classes;
  RecordStream stream(shards.size(), open, bad);
  for (std::int64_t number = 0;; ++number) {
    const std::optional<Record> record = stream.Next();
    if (!record) {
      return classes;
    }
    on_record();
    try {
      const ImagenetExampleView example = ParseImagenetExample(record->payload);
      NamedRecords& one = classes[example.label];
      if (one.records.empty() && !example.synset.empty()) {
        one.name = SafeName(example.synset);
      }
      one.records.push_back(
          starts.empty() ? number : starts[stream.shard()] + record->number);
    } catch (const DataError& error) {
      bad.Take(error.At({PathForMessages(shards[stream.shard()]),
                         record->number, record->offset}));
    }
  }
}

// A class named "val" must not make "train-val-00000-of-00001".
bool KeepsItsSplit(const std::string& prefix, const std::string& name) {
  const std::string shard = ShardName(prefix + "-" + name, 0, 1);
  return !NamesTwoSplits(shard) &&
         SplitInName(shard) == SplitInName(ShardName(prefix, 0, 1));
}

}  // namespace

std::vector<RecordClass> ClassesByLabel(
    const RecordSequence& sequence, const std::string& prefix,
    const ShardOpener& open, BadRecords& bad,
    const std::function<void()>& on_record) {
  std::vector<RecordClass> classes;
  std::set<std::string> names;
  for (auto& [label, one] : RecordsByLabel(sequence, open, bad, on_record)) {
    const std::string number = "label-" + std::to_string(label);
    std::string name = !one.name.empty() && KeepsItsSplit(prefix, one.name)
                           ? one.name
                           : number;
    while (!names.insert(name).second) {
      name += "-" + number;
    }
    classes.push_back({.shard = ShardName(prefix + "-" + name, 0, 1),
                       .records = std::move(one.records)});
  }
  return classes;
}

}  // namespace infeed
