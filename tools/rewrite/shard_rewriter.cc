#include "tools/rewrite/shard_rewriter.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/parent_folder.h"
#include "base/shown_text.h"
#include "pipeline/order/sample_order.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/files/shards.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/writer.h"
#include "tools/rewrite/record_classes.h"
#include "tools/rewrite/record_copier.h"
#include "tools/rewrite/record_stream.h"
#include "tools/shards/progress.h"
#include "tools/shards/set_info.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

// Rewrites the shards of one prefix: reads their lengths, plans the new shards,
// and writes them into a staged folder.
//
// One thread at a time. Throws what RewriteShards() throws.
class GroupRewriter {
 public:
  // folder: null if nothing is to be written. The arguments must outlive this
  // object.
  GroupRewriter(const std::string& prefix,
                const std::vector<std::string>& inputs,
                const RewriteOptions& options, const StagedFolder* folder,
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

  // Writes the new shards; without a folder, returns their names and records
  // only. Requires: called once.
  [[nodiscard]] std::vector<DatasetInfo::Shard> Write() {
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
    const auto on_records = [&](std::int64_t moved_bytes,
                                std::int64_t records) {
      interruption_.Check();
      progress.Add(moved_bytes, records);
    };
    if (const RecordIndex* const index = sequence_.index()) {
      const CopyOptions options = {.compression = options_.writing.compression,
                                   .threads = options_.writing.threads,
                                   .memory_limit = options_.memory_limit};
      return CopyRecords(*index, record_at_, shards_, options, bad_,
                         on_records);
    }
    return Stream(on_records);
  }
  // The number of bad records left out of the new shards.
  [[nodiscard]] std::int64_t left_out() const {
    return sequence_.left_out() + bad_.count();
  }

 private:
  RecordSequence ReadThrough(const std::vector<std::string>& inputs) const {
    ShardProgress progress(inputs);
    return RecordSequence(inputs,
                          {.any_order = options_.order != RewriteOrder::kAsIs,
                           .skip_bad = options_.writing.skip_bad,
                           .open = progress.Opener(),
                           .on_record = progress.Counter(interruption_),
                           .folder = folder_,
                           .scratch_name = prefix_});
  }
  void PlanByCut() {
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
      AddShard(ShardName(prefix_, i, count),
               ranges[static_cast<std::size_t>(i)]);
    }
  }
  void PlanByLabel() {
    ShardProgress progress(sequence_.shards());
    std::vector<std::int64_t> records;
    for (const RecordClass& one :
         ClassesByLabel(sequence_, prefix_, progress.Opener(), bad_,
                        progress.Counter(interruption_))) {
      AddShard(one.shard, {std::ssize(records), std::ssize(one.records)});
      records.insert(records.end(), one.records.begin(), one.records.end());
    }
    record_at_ = [records = std::move(records)](std::int64_t position) {
      return records[static_cast<std::size_t>(position)];
    };
  }
  void AddShard(const std::string& name, const ShardRange& range) {
    shards_.push_back(
        {.name = name,
         .path = folder_ != nullptr ? folder_->PathFor(name) : name,
         .range = range});
  }
  // Writes the new shards one after the other, from shards that can only be
  // read in order.
  std::vector<DatasetInfo::Shard> Stream(const OnRecords& on_records) {
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

  const std::string& prefix_;
  const RewriteOptions& options_;
  const StagedFolder* folder_;
  const Interruption& interruption_;
  BadRecords bad_;
  RecordSequence sequence_;
  std::vector<NewShard> shards_;
  // The record at a position of the new order.
  std::function<std::int64_t(std::int64_t)> record_at_;
};

namespace fs = std::filesystem;

using Paths = std::vector<std::string>;
using Groups = std::map<std::string, Paths>;
using Rewriters = std::vector<std::unique_ptr<GroupRewriter>>;

// Groups shards by prefix; each prefix is a set of its own, sorted.
Groups GroupByPrefix(const Paths& shards, const std::string& fallback) {
  Groups groups;
  for (const std::string& shard : shards) {
    const std::string name = FileNameOf(shard);
    const std::string prefix(ShardPrefix(name));
    if (prefix.empty() && fallback.empty()) {
      throw UsageError(PathForMessages(shard) +
                       ": is not named PREFIX-NNNNN-of-NNNNN: give a prefix "
                       "for the new shards, such as --prefix train");
    }
    groups[prefix.empty() ? fallback : prefix].push_back(shard);
  }
  for (auto& [prefix, paths] : groups) {
    std::ranges::sort(paths);
  }
  return groups;
}

// Whether a file of this prefix belongs to the sets of the new shards.
bool BelongsTo(const Groups& groups, std::string_view prefix, bool by_label) {
  return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
    return prefix == group.first ||
           (by_label && prefix.starts_with(group.first + "-"));
  });
}

// The names of the files in a folder, or of the objects in a store's "folder".
Paths NamesIn(const std::string& folder) {
  Paths names;
  if (IsUrl(folder)) {
    for (const ObjectEntry& object :
         SharedObjectStore()->List(JoinPath(folder, "")).objects) {
      names.push_back(fs::path(object.url).filename().string());
    }
    return names;
  }
  std::error_code ignored;  // The folder may not exist yet.
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// Old shards in the output folder that readers would read together with the new
// ones.
Paths OldShards(const Groups& groups, const RewriteOptions& options) {
  const std::string& folder = options.writing.output;
  Paths old;
  for (const std::string& name : NamesIn(folder)) {
    if (BelongsTo(groups, ShardPrefix(name),
                  options.order == RewriteOrder::kByLabel)) {
      old.push_back(JoinPath(folder, name));
    }
  }
  std::sort(old.begin(), old.end());
  return ExistingOutputs(old, options.writing.overwrite);
}

// Objects appear one by one; when all new ones exist, removes the old ones,
// except those that new ones replaced.
void RemoveOldObjects(const Paths& stale,
                      const std::vector<DatasetInfo::Shard>& written,
                      const std::string& folder) {
  std::set<std::string> kept;
  for (const DatasetInfo::Shard& shard : written) {
    kept.insert(JoinPath(folder, shard.name));
  }
  for (const std::string& url : stale) {
    if (IsUrl(url) && !kept.contains(url)) {
      SharedObjectStore()->Remove(url);
    }
  }
}

Rewriters MakeRewriters(const Groups& groups, const RewriteOptions& options,
                        const StagedFolder* folder,
                        const Interruption& interruption) {
  Rewriters rewriters;
  for (const auto& [prefix, inputs] : groups) {
    rewriters.push_back(std::make_unique<GroupRewriter>(prefix, inputs, options,
                                                        folder, interruption));
  }
  return rewriters;
}

// The report must not replace a new shard.
void CheckReport(const RewrittenSet& set, const std::string& json) {
  std::vector<NamedOutput> outputs = {
      {.flag = "--json", .path = json, .may_be_stdout = true}};
  for (const DatasetInfo::Shard& shard : set.shards) {
    outputs.push_back({"--output", JoinPath(set.output, shard.name), true});
  }
  CheckOutputs(outputs, {});
}

void CheckFile(const Paths& shards, const WritingOptions& options) {
  const std::string& output = options.output;
  const std::string_view name = BaseName(output);
  if (name.empty()) {
    throw UsageError("--output " + output + ": give a file, not a folder");
  }
  CheckOutputs(
      {{"--output", output, true},
       {.flag = "--json", .path = options.json, .may_be_stdout = true}},
      shards);
  // Readers of that folder would read every record twice.
  if (IsShardName(name)) {
    RefuseInputsIn({ParentFolder(output)}, "--output", shards);
  }
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) {
    throw UsageError("--output " + output + ": is a folder; give a file");
  }
}

std::int64_t CountRecords(const Paths& shards, bool skip_bad,
                          const Interruption& interruption) {
  ShardProgress progress(shards);
  return RecordSequence(shards, {.any_order = false,
                                 .skip_bad = skip_bad,
                                 .open = progress.Opener(),
                                 .on_record = progress.Counter(interruption),
                                 .folder = nullptr,
                                 .scratch_name = {}})
      .size();
}

}  // namespace

RewrittenSet RewriteShards(const Paths& shards, const RewriteOptions& options,
                           const Interruption& interruption) {
  const std::string& output = options.writing.output;
  if (output.empty()) {
    throw UsageError("--output '': give a folder");
  }
  RefuseInputsIn({output}, "--output", shards);
  const Groups groups = GroupByPrefix(shards, options.prefix);
  RewrittenSet set = {
      .output = output, .shards = {}, .is_plan = options.writing.dry_run};
  if (!set.is_plan) {
    StagedFolder::FinishKilled(output);
  }
  const Paths stale = OldShards(groups, options);
  DatasetInfo common =
      CommonInfo(shards, OtherShardsIn(output, stale)).value_or(DatasetInfo());
  if (options.order == RewriteOrder::kShuffled) {
    common.seed = options.seed;  // The seed of the records' order.
  }
  std::optional<StagedFolder> folder;
  if (!set.is_plan) {
    folder.emplace(output);
  }
  for (const auto& rewriter : MakeRewriters(
           groups, options, folder ? &*folder : nullptr, interruption)) {
    std::ranges::move(rewriter->Write(), std::back_inserter(set.shards));
    set.left_out += rewriter->left_out();
  }
  CheckReport(set, options.writing.json);
  if (folder) {
    DescribeShards(*folder, common, set.shards, stale);
    folder->Commit(stale);
    RemoveOldObjects(stale, set.shards, output);
  }
  return set;
}

ReportTable RewriteReport(const RewrittenSet& set) {
  std::vector<ReportTable> lines;
  std::int64_t records = 0;
  for (const DatasetInfo::Shard& shard : set.shards) {
    const std::string file = JoinPath(set.output, shard.name);
    lines.push_back(
        {{"file", file, ShownText(file)},
         {"records", shard.records, fmt::format(" {}\n", shard.records)}});
    records += shard.records;
  }
  return {
      ListRow("shards", lines),
      {"records", records,
       fmt::format("{}{} in {}", set.is_plan ? "would write " : "",
                   CountText(records, "record"),
                   CountText(lines.size(), "shard"))},
      {"left_out", set.left_out,
       set.is_plan ? "\n" : fmt::format(", {} bad left out\n", set.left_out)}};
}

MergedFile MergeShards(const Paths& shards, const WritingOptions& options,
                       const Interruption& interruption) {
  MergedFile file = {.path = options.output,
                     .shards = std::ssize(shards),
                     .is_plan = options.dry_run};
  CheckFile(shards, options);
  const std::string parent = ParentFolder(file.path);
  if (!file.is_plan) {
    StagedFolder::FinishKilled(parent);
  }
  const std::string name(BaseName(file.path));
  const Paths stale =
      ExistingOutputs({JoinPath(parent, name)}, options.overwrite);
  const std::optional<DatasetInfo> description =
      InfoForMerged(shards, file.path);
  if (file.is_plan) {
    file.records = CountRecords(shards, options.skip_bad, interruption);
    return file;
  }
  BadRecords bad(options.skip_bad);
  StagedFolder folder(parent);
  TfrecordWriter writer(
      folder.PathFor(name),
      {.compression = options.compression, .write_index = true});
  {
    ShardProgress progress(shards);
    const std::function<void()> count = progress.Counter(interruption);
    RecordStream stream(shards.size(), progress.Opener(), bad);
    while (const std::optional<Record> record = stream.Next()) {
      count();
      writer.Append(record->payload);
    }
  }
  writer.Close();
  if (description) {
    DescribeShards(folder, *description, {DescribeShard(name, writer)}, stale);
  }
  folder.Commit(stale);
  file.records = writer.records();
  file.left_out = bad.count();
  return file;
}

ReportTable MergeReport(const MergedFile& file) {
  const std::string records = CountText(file.records, "record");
  const std::string path = ShownText(file.path);
  return {{"file", file.path},
          {"shards", file.shards},
          {"records", file.records,
           file.is_plan ? fmt::format("would write {} of {} to {}\n", records,
                                      CountText(file.shards, "shard"), path)
                        : fmt::format("{} in {}, {} bad left out\n", records,
                                      path, file.left_out)},
          {"left_out", file.left_out}};
}

}  // namespace infeed
