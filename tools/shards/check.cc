#include "tools/shards/check.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"

namespace infeed {
namespace {

bool Exists(const std::string& path) {
  try {
    return IsThere(path);
  } catch (const IoError&) {
    return false;
  }
}

}  // namespace

ExpectedShards::ExpectedShards(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    folders.merge(DescribingFolders(FolderOfShard(path)));
  }
  for (const std::string& folder : folders) {
    Read(folder);
  }
}

void ExpectedShards::Read(const std::string& folder) {
  try {
    const std::optional<DatasetInfo> info = ReadDatasetInfo(folder);
    if (!info) {
      return;
    }
    for (const DatasetInfo::Split& split : info->splits) {
      for (const DatasetInfo::Shard& shard : split.shards) {
        entries_[ShardPathIn(folder, shard.name)] = shard;
      }
    }
  } catch (const DataError& error) {
    problems_.emplace_back(error.what());
  } catch (const IoError&) {
    if (!IsUrl(folder)) {
      throw;
    }
    // A server may serve shards and refuse all other files.
  }
}

std::optional<DatasetInfo::Shard> ExpectedShards::Find(
    const std::string& path) const {
  const auto found = entries_.find(PathForMessages(path));
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Differences(const DatasetInfo::Shard& expected,
                                     std::int64_t records, std::int64_t bytes,
                                     std::uint32_t crc32c) {
  std::vector<std::string> differences;
  if (records != expected.records) {
    differences.push_back(fmt::format("holds {}, dataset.json says {}",
                                      CountText(records, "record"),
                                      expected.records));
  }
  if (bytes != expected.bytes) {
    differences.push_back(fmt::format("has {} bytes, dataset.json says {}",
                                      bytes, expected.bytes));
  } else if (const std::string hex = fmt::format("{:08x}", crc32c);
             hex != expected.crc32c) {
    differences.push_back(fmt::format(
        "has the CRC-32C {}, dataset.json says {}", hex, expected.crc32c));
  }
  return differences;
}

ShardSetFaults FaultsAround(const std::vector<std::string>& paths,
                            const std::vector<std::string>& named,
                            bool dataset_json) {
  using Set = std::pair<std::string, std::string>;  // folder, prefix
  const auto set_of = [](const std::string& path) {
    const std::optional<ShardNameParts> name = ParseNameInSet(BaseName(path));
    return Set(FolderOfShard(path), name ? name->prefix : "");
  };
  std::map<Set, std::vector<std::string>> sets;
  for (const std::string& path : paths) {
    sets[set_of(path)].push_back(path);
  }
  ShardSetFaults faults;
  for (const auto& [set, members] : sets) {
    const bool alone = members.size() == 1 &&
                       std::ranges::find(named, members[0]) != named.end();
    if (set.second.empty() || alone) {
      continue;
    }
    faults.Add(FindFaults(
        members, {.folders = dataset_json ? DescribingFolders(set.first)
                                          : std::set<std::string>(),
                  // Clang before 16 captures no structured binding by [&].
                  .includes = [&, &set = set](const std::string& path) {
                    return set_of(path) == set && !Exists(path);
                  }}));
  }
  return faults;
}

}  // namespace infeed
