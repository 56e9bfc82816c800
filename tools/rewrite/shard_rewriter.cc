#include "tools/rewrite/shard_rewriter.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/parent_folder.h"
#include "base/shown_text.h"
#include "records/bytes/base_name.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/files/shards.h"
#include "records/tfrecord/writer.h"
#include "tools/rewrite/group_rewriter.h"
#include "tools/rewrite/record_sequence.h"
#include "tools/rewrite/record_stream.h"
#include "tools/shards/progress.h"
#include "tools/shards/set_info.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

using Paths = std::vector<std::string>;
using Groups = std::map<std::string, Paths>;
using Rewriters = std::vector<std::unique_ptr<GroupRewriter>>;

// Groups shards by prefix; each prefix is a set of its own.
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
  std::vector<NamedOutput> outputs = {{"--json", json}};
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
  CheckOutputs({{"--output", output, true}, {"--json", options.json}}, shards);
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
  RefuseInputsIn({output}, "--output", shards);
  const Groups groups = GroupByPrefix(shards, options.prefix);
  DatasetInfo common = CommonInfo(shards).value_or(DatasetInfo());
  if (options.order == RewriteOrder::kShuffled) {
    common.seed = options.seed;  // The seed of the records' order.
  }
  RewrittenSet set = {
      .output = output, .shards = {}, .is_plan = options.writing.dry_run};
  if (!set.is_plan) {
    StagedFolder::FinishKilled(output);
  }
  const Paths stale = OldShards(groups, options);
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
  (void)ExistingOutputs({file.path}, options.overwrite);
  if (file.is_plan) {
    file.records = CountRecords(shards, options.skip_bad, interruption);
    return file;
  }
  BadRecords bad(options.skip_bad);
  StagedFolder folder(parent);
  TfrecordWriter writer(
      folder.PathFor(std::string(BaseName(file.path))),
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
  folder.Commit({});
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
