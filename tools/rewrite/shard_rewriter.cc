#include "tools/rewrite/shard_rewriter.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/shown_text.h"
#include "records/cloud/object_store.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/files/shards.h"
#include "tools/cli/interruption.h"
#include "tools/rewrite/group_rewriter.h"
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

void PrintPlan(const Rewriters& rewriters, const std::string& output) {
  std::int64_t records = 0;
  std::int64_t shards = 0;
  for (const auto& rewriter : rewriters) {
    for (const NewShard& shard : rewriter->shards()) {
      std::cout << ShownText(JoinPath(output, shard.name)) << ' '
                << shard.range.count << '\n';
      records += shard.range.count;
      ++shards;
    }
  }
  std::cout << fmt::format("would write {} in {}\n",
                           CountText(records, "record"),
                           CountText(shards, "shard"));
}

void PrintResult(const std::vector<DatasetInfo::Shard>& shards,
                 std::int64_t left_out, const std::string& output) {
  std::int64_t records = 0;
  for (const DatasetInfo::Shard& shard : shards) {
    std::cout << ShownText(JoinPath(output, shard.name)) << ' ' << shard.records
              << '\n';
    records += shard.records;
  }
  std::cout << fmt::format("{} in {}, {} bad left out\n",
                           CountText(records, "record"),
                           CountText(shards.size(), "shard"), left_out);
}

ExitCode Write(const Groups& groups, const RewriteOptions& options,
               const DatasetInfo& common, const Interruption& interruption) {
  const std::string& output = options.writing.output;
  StagedFolder::FinishKilled(output);
  const Paths stale = OldShards(groups, options);
  StagedFolder folder(output);
  const Rewriters rewriters =
      MakeRewriters(groups, options, &folder, interruption);
  std::vector<DatasetInfo::Shard> written;
  std::int64_t left_out = 0;
  for (const auto& rewriter : rewriters) {
    std::vector<DatasetInfo::Shard> more = rewriter->Write();
    std::move(more.begin(), more.end(), std::back_inserter(written));
    left_out += rewriter->left_out();
  }
  DescribeShards(folder, common, written, stale);
  folder.Commit(stale);
  RemoveOldObjects(stale, written, output);
  PrintResult(written, left_out, output);
  return ExitCode::kDone;
}

}  // namespace

ProgramEnd RewriteShards(const Paths& shards, const RewriteOptions& options) {
  RefuseInputsIn({options.writing.output}, "--output", shards);
  const Groups groups = GroupByPrefix(shards, options.prefix);
  DatasetInfo common = CommonInfo(shards).value_or(DatasetInfo());
  if (options.order == RewriteOrder::kShuffled) {
    common.seed = options.seed;  // The seed of the records' order.
  }
  return RunInterruptibly(
      "records", kNothingIsLeft, [&](const Interruption& interruption) {
        if (!options.writing.dry_run) {
          return Write(groups, options, common, interruption);
        }
        (void)OldShards(groups, options);
        PrintPlan(MakeRewriters(groups, options, nullptr, interruption),
                  options.writing.output);
        return ExitCode::kDone;
      });
}

}  // namespace infeed
