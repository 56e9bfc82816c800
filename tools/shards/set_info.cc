#include "tools/shards/set_info.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

using ShardsByName = std::map<std::string, DatasetInfo::Shard>;

// The entries of the older dataset.json that stay.
ShardsByName OldShards(const std::string& folder,
                       const std::vector<std::string>& stale) {
  ShardsByName shards;
  const std::optional<DatasetInfo> old = ReadDatasetInfo(folder);
  for (const DatasetInfo::Split& split :
       old ? old->splits : std::vector<DatasetInfo::Split>()) {
    for (const DatasetInfo::Shard& shard : split.shards) {
      const std::string path = JoinPath(folder, shard.name);
      if (IsThere(path) &&
          std::find(stale.begin(), stale.end(), path) == stale.end()) {
        shards[shard.name] = shard;
      }
    }
  }
  return shards;
}

// A web server may serve shards, by signed URLs, and refuse all other files.
std::optional<DatasetInfo> InfoIn(const std::string& folder) {
  try {
    return ReadDatasetInfo(folder);
  } catch (const StoppedError&) {
    throw;
  } catch (const IoError&) {
    const bool is_web = IsUrl(folder) && folder.starts_with("http");
    if (!is_web) {
      throw;
    }
    return std::nullopt;
  }
}

}  // namespace

std::optional<DatasetInfo> CommonInfo(const std::vector<std::string>& inputs) {
  std::set<std::string> folders;
  for (const std::string& input : inputs) {
    for (std::string& folder : DatasetFolders(input)) {
      folders.insert(std::move(folder));
    }
  }
  std::optional<DatasetInfo> common;
  std::string where;
  for (const std::string& folder : folders) {
    const std::optional<DatasetInfo> info = InfoIn(folder);
    if (info && common &&
        (info->classes != common->classes ||
         info->first_label != common->first_label)) {
      throw UsageError(where + " and " + folder +
                       ": their dataset.json name different classes, or number "
                       "them differently, so that labels would be ambiguous: "
                       "process them separately");
    }
    if (info && !common) {
      common = DatasetInfo{.seed = info->seed,
                           .classes = info->classes,
                           .first_label = info->first_label,
                           .splits = {}};
      where = folder;
    }
  }
  return common;
}

DatasetInfo::Shard DescribeShard(const std::string& name,
                                 const TfrecordWriter& writer) {
  return {.name = name,
          .records = writer.records(),
          .bytes = writer.size(),
          .crc32c = fmt::format("{:08x}", writer.crc32c())};
}

void DescribeShards(const StagedFolder& folder, const DatasetInfo& common,
                    const std::vector<DatasetInfo::Shard>& shards,
                    const std::vector<std::string>& stale) {
  ShardsByName all = OldShards(folder.path(), stale);
  for (const DatasetInfo::Shard& shard : shards) {
    all[shard.name] = shard;
  }
  std::map<std::string, DatasetInfo::Split> splits;
  for (const auto& [name, shard] : all) {
    const std::string base = fs::path(name).filename().string();
    const std::string prefix(ShardPrefix(base));
    DatasetInfo::Split& split = splits[prefix.empty() ? base : prefix];
    split.name = prefix.empty() ? base : prefix;
    split.records += shard.records;
    split.shards.push_back(shard);
  }
  DatasetInfo info = common;
  for (auto& [name, split] : splits) {
    info.splits.push_back(std::move(split));
  }
  // train, validation and test come first, then other splits.
  std::ranges::sort(info.splits, {}, [](const DatasetInfo::Split& split) {
    return std::pair(std::ranges::find(kSplits, split.name) - kSplits.begin(),
                     std::string_view(split.name));
  });
  WriteDatasetInfo(folder.stage(), info);
}

}  // namespace infeed
