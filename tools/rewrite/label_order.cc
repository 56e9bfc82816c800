#include "tools/rewrite/label_order.h"

#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "tools/cli/safe_name.h"

namespace infeed {
namespace {

struct Class {
  std::string name;
  std::vector<std::int64_t> records;
};

LabelOrder Join(const std::map<std::int64_t, Class>& classes) {
  LabelOrder order;
  std::set<std::string> names;
  for (const auto& [label, one] : classes) {
    std::string name = one.name;
    while (!names.insert(name).second) {
      name += "-label-" + std::to_string(label);
    }
    order.labels.push_back(
        {.label = label,
         .name = std::move(name),
         .range = {static_cast<std::int64_t>(order.records.size()),
                   static_cast<std::int64_t>(one.records.size())}});
    order.records.insert(order.records.end(), one.records.begin(),
                         one.records.end());
  }
  return order;
}

// The number of the first record of each shard; empty without an index.
std::vector<std::int64_t> StartsOf(const RecordSequence& sequence) {
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

}  // namespace

LabelOrder OrderByLabel(const RecordSequence& sequence,
                        const RecordStream::Open& open, BadRecords& bad,
                        const std::function<void()>& on_record) {
  const std::vector<std::int64_t> starts = StartsOf(sequence);
  const std::vector<std::string>& shards = sequence.shards();
  std::map<std::int64_t, Class> classes;
  RecordStream stream(shards.size(), open, bad);
  for (std::int64_t number = 0;; ++number) {
    const std::optional<Record> record = stream.Next();
    if (!record) {
      return Join(classes);
    }
    on_record();
    try {
      const ImagenetExampleView example = ParseImagenetExample(record->payload);
      Class& one = classes[example.label];
      if (one.records.empty()) {
        one.name = example.synset.empty()
                       ? "label-" + std::to_string(example.label)
                       : SafeName(example.synset);
      }
      one.records.push_back(
          starts.empty() ? number : starts[stream.shard()] + record->number);
    } catch (const DataError& error) {
      bad.Take(error.At({PathForMessages(shards[stream.shard()]),
                         record->number, record->offset}));
    }
  }
}

}  // namespace infeed
