#include "tools/shards/set_info.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parent_folder.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"
#include "records/store/index_classes.h"
#include "records/store/label_index.h"
#include "records/store/record_index.h"

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

// The dataset.json files beside shards, one entry for each of their folders.
std::vector<std::optional<DatasetInfo>> InfosBeside(
    const std::vector<std::string>& shards) {
  std::vector<std::optional<DatasetInfo>> infos;
  std::set<std::string> seen;
  for (const std::string& shard : shards) {
    if (seen.insert(DatasetFolders(shard).front()).second) {
      infos.push_back(InfoBeside(shard));
    }
  }
  return infos;
}

bool AreOfOneSet(const std::vector<std::string>& shards) {
  return std::ranges::all_of(shards, [&](const std::string& shard) {
    return DatasetFolders(shard).back() == DatasetFolders(shards[0]).back();
  });
}

// Nullopt: the shards are damaged, and no other data set is among them.
std::optional<RecordIndex> IndexUndamaged(
    const std::vector<std::string>& shards) {
  try {
    return RecordIndex(shards);
  } catch (const DataError& error) {
    if (!AreOfOneSet(shards)) {
      throw UsageError(std::string(error.what()) +
                       "; labels of damaged shards cannot be compared with "
                       "those of another data set: repair each data set by "
                       "itself first, into an empty folder");
    }
    return std::nullopt;
  }
}

// The label of the first class, as the data sets state it or as their labels
// tell; nullopt: known only when damage is repaired.
std::optional<int> CommonFirstLabel(const std::vector<std::string>& shards,
                                    const IndexClasses& classes) {
  const std::optional<RecordIndex> index = IndexUndamaged(shards);
  if (!index) {
    return classes.first;
  }
  return classes.names.empty() || classes.first
             ? FindLabelOffset(*index, RecordKeys{.image = ""})
             : FindNumberedClasses(*index).first;
}

bool IsInputFolder(const std::string& folder,
                   const std::vector<std::string>& shards) {
  return std::ranges::any_of(shards, [&](const std::string& shard) {
    const std::string parent = ParentFolder(shard);
    std::error_code ignored;
    return parent == folder || fs::equivalent(parent, folder, ignored);
  });
}

// labels.txt does not contain the label of its first name.
void WriteClassList(const std::string& path,
                    const std::vector<std::string>& names) {
  const std::unique_ptr<ByteSink> sink = OpenSink(path);
  for (const std::string& name : names) {
    sink->Write(name + "\n");
  }
  sink->Commit();
}

}  // namespace

std::vector<std::string> OtherShardsIn(const std::string& folder,
                                       const std::vector<std::string>& gone) {
  if (!IsUrl(folder) && !fs::is_directory(folder)) {
    return {};
  }
  std::vector<std::string> others = RecordFilesBelow(folder);
  std::erase_if(others, [&](const std::string& file) {
    return IsArchiveName(FileNameOf(file)) ||
           std::ranges::find(gone, file) != gone.end();
  });
  return others;
}

std::optional<DatasetInfo> CommonInfo(const std::vector<std::string>& shards) {
  IndexClasses classes = ClassesBeside(std::span(shards));
  std::optional<DatasetInfo> common;
  std::set<std::optional<int>> firsts;
  for (const std::optional<DatasetInfo>& info : InfosBeside(shards)) {
    firsts.insert(info ? info->first_label : std::nullopt);
    if (info && !common) {
      common = DatasetInfo{.seed = info->seed};
    }
  }
  const bool is_stated = firsts.size() == 1 && *firsts.begin();
  const bool is_numbered = !classes.names.empty() || firsts.size() > 1;
  if (is_stated) {
    classes.first = *firsts.begin();
  } else if (is_numbered) {
    classes.first = CommonFirstLabel(shards, classes);
  }
  if (!common && !classes.names.empty()) {
    common = DatasetInfo();
  }
  if (common) {
    common->classes = std::move(classes.names);
    common->first_label = classes.first;
  }
  return common;
}

std::optional<DatasetInfo> CommonInfo(std::vector<std::string> shards,
                                      const std::vector<std::string>& others) {
  if (others.empty()) {
    return CommonInfo(shards);
  }
  shards.insert(shards.end(), others.begin(), others.end());
  try {
    return CommonInfo(shards);
  } catch (const UsageError& error) {
    throw UsageError(std::string(error.what()) +
                     "; or give an --output without other shards");
  }
}

std::optional<DatasetInfo> InfoForMerged(const std::vector<std::string>& shards,
                                         const std::string& path) {
  const std::string folder = ParentFolder(path);
  const std::vector<std::string> others =
      OtherShardsIn(folder, {JoinPath(folder, FileNameOf(path))});
  const bool names_others = InfoBeside(path) || !NamesBeside(path).empty();
  std::optional<DatasetInfo> common =
      names_others ? CommonInfo(shards, others) : CommonInfo(shards);
  const bool is_described = ReadDatasetInfo(folder).has_value();
  if (IsInputFolder(folder, shards) || (!others.empty() && !is_described)) {
    return std::nullopt;
  }
  return common || !is_described ? common : DatasetInfo();
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
  if (!info.first_label && !info.classes.empty()) {
    WriteClassList(folder.PathFor("labels.txt"), info.classes);
    info.classes.clear();
  }
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
