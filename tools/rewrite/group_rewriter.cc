#include "tools/rewrite/group_rewriter.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "pipeline/order/sample_order.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/writer.h"
#include "tools/cli/safe_name.h"
#include "tools/shards/progress.h"
#include "tools/shards/set_info.h"

namespace infeed {
namespace {

struct Class {
  std::string name;  // its folder name, or "label-7"; a valid file name
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

// Reads every record's label. Records of a class keep their order; records that
// are not Examples go to `bad`. A record's number is its number in the
// sequence's index; without an index, its number among the good records.
std::map<std::int64_t, Class> ClassesByLabel(
    const RecordSequence& sequence, const ShardOpener& open, BadRecords& bad,
    const std::function<void()>& on_record) {
  const std::vector<std::int64_t> starts = FirstRecords(sequence);
  const std::vector<std::string>& shards = sequence.shards();
  std::map<std::int64_t, Class> classes;
  RecordStream stream(shards.size(), open, bad);
  for (std::int64_t number = 0;; ++number) {
    const std::optional<Record> record = stream.Next();
    if (!record) {
      return classes;
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

}  // namespace

GroupRewriter::GroupRewriter(const std::string& prefix,
                             const std::vector<std::string>& inputs,
                             const RewriteOptions& options,
                             const StagedFolder* folder,
                             const Interruption& interruption)
    : prefix_(prefix),
      options_(options),
      folder_(folder),
      interruption_(interruption),
      bad_(options.writing.skip_bad),
      sequence_(ReadThrough(inputs)) {
  if (options.order == RewriteOrder::kByLabel) {
    PlanByLabel();
  } else {
    PlanByCut();
  }
}

RecordSequence GroupRewriter::ReadThrough(
    const std::vector<std::string>& inputs) const {
  ShardProgress progress(inputs);
  return RecordSequence(inputs,
                        {.any_order = options_.order != RewriteOrder::kAsIs,
                         .skip_bad = options_.writing.skip_bad,
                         .open = progress.Opener(),
                         .on_record = progress.Counter(interruption_),
                         .folder = folder_,
                         .scratch_name = prefix_});
}

void GroupRewriter::PlanByCut() {
  const std::int64_t size = sequence_.size();
  record_at_ = [](std::int64_t position) { return position; };
  if (options_.order == RewriteOrder::kShuffled && size > 0) {
    record_at_ =
        [order = SampleOrder(size, Shuffle::kGlobal, options_.seed).Epoch(0)](
            std::int64_t position) { return order.RecordAt(position); };
  }
  const std::vector<ShardRange> ranges = CutIntoShards(
      size,
      [&](std::int64_t position) {
        return sequence_.frame_bytes(record_at_(position));
      },
      options_.cut);
  const auto count = std::ssize(ranges);
  for (std::int64_t i = 0; i < count; ++i) {
    AddShard(ShardName(prefix_, i, count), ranges[static_cast<std::size_t>(i)]);
  }
}

void GroupRewriter::PlanByLabel() {
  ShardProgress progress(sequence_.shards());
  std::vector<std::int64_t> records;
  std::set<std::string> names;
  for (const auto& [label, one] :
       ClassesByLabel(sequence_, progress.Opener(), bad_,
                      progress.Counter(interruption_))) {
    std::string name = one.name;
    while (!names.insert(name).second) {
      name += "-label-" + std::to_string(label);
    }
    AddShard(ShardName(prefix_ + "-" + name, 0, 1),
             {std::ssize(records), std::ssize(one.records)});
    records.insert(records.end(), one.records.begin(), one.records.end());
  }
  record_at_ = [records = std::move(records)](std::int64_t position) {
    return records[static_cast<std::size_t>(position)];
  };
}

void GroupRewriter::AddShard(const std::string& name, const ShardRange& range) {
  shards_.push_back({.name = name,
                     .path = folder_ != nullptr ? folder_->PathFor(name) : name,
                     .range = range});
}

std::vector<DatasetInfo::Shard> GroupRewriter::Write() {
  if (folder_ == nullptr) {
    std::vector<DatasetInfo::Shard> planned;
    for (const NewShard& shard : shards_) {
      planned.push_back({shard.name, shard.range.count, 0, ""});
    }
    return planned;
  }
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < sequence_.size(); ++i) {
    bytes += sequence_.frame_bytes(i);
  }
  ReadProgress progress(bytes);
  const auto on_records = [&](std::int64_t moved_bytes, std::int64_t records) {
    interruption_.Check();
    progress.Add(moved_bytes, records);
  };
  if (const RecordIndex* const index = sequence_.index()) {
    const CopyOptions options = {.compression = options_.writing.compression,
                                 .threads = options_.writing.threads,
                                 .memory_limit = options_.memory_limit};
    return CopyRecords(*index, record_at_, shards_, options, bad_, on_records);
  }
  return Stream(on_records);
}

// Writes the new shards one after the other, from shards that can only be read
// in order.
std::vector<DatasetInfo::Shard> GroupRewriter::Stream(
    const OnRecords& on_records) {
  const std::vector<std::string>& inputs = sequence_.shards();
  RecordStream stream(
      inputs.size(), [&](std::size_t i) { return OpenSource(inputs[i]); },
      bad_);
  std::vector<DatasetInfo::Shard> written;
  for (const NewShard& shard : shards_) {
    TfrecordWriter writer(
        shard.path,
        {.compression = options_.writing.compression, .write_index = true});
    for (std::int64_t i = 0; i < shard.range.count; ++i) {
      const std::optional<Record> record = stream.Next();
      if (!record) {
        throw IoError(
            PathForMessages(inputs.back()) +
            ": has fewer records than before: another program writes to it");
      }
      writer.Append(record->payload);
      on_records(static_cast<std::int64_t>(record->payload.size() +
                                           kFrameOverheadBytes),
                 1);
    }
    writer.Close();
    written.push_back(DescribeShard(shard.name, writer));
  }
  while (stream.Next()) {  // Bad records after the last good one count, too.
  }
  return written;
}

}  // namespace infeed
