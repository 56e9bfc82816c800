#include "tools/shard_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/open_source.h"
#include "records/shards.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// A shard's name, taken apart: FOLDER/PREFIX-NNNNN-of-COUNT and ".gz".
struct ShardSet {
  std::string folder;
  std::string prefix;
  std::string ending;
  std::int64_t count = 0;

  friend auto operator<=>(const ShardSet&, const ShardSet&) = default;
};

// Of a path or a URL; "" of a name alone.
std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// As ListShards() spells it.
std::string PathIn(const std::string& folder, const std::string& name) {
  return IsUrl(folder) ? folder + "/" + name
                       : (fs::path(folder) / name).lexically_normal().string();
}

std::optional<ShardSet> SetOf(const std::string& path) {
  std::string name = NameOf(path);
  if (!IsShardName(name)) {
    return std::nullopt;
  }
  ShardSet set = {.folder = FolderOf(path),
                  .prefix = ShardPrefix(name).value_or(""),
                  .ending = name.ends_with(".gz") ? ".gz" : "",
                  .count = 0};
  name.resize(name.size() - set.ending.size());
  const std::string_view digits =
      std::string_view(name).substr(name.rfind("-of-") + 4);
  // A number too large stays 0: no set has as many shards.
  std::from_chars(digits.data(), digits.data() + digits.size(), set.count);
  return set;
}

std::string PathOf(const ShardSet& set, std::int64_t number) {
  return PathIn(set.folder,
                ShardName(set.prefix, number, set.count) + set.ending);
}

bool Exists(const std::string& path) {
  if (IsUrl(path)) {
    try {
      return OpenSource(path) != nullptr;
    } catch (const IoError&) {
      return false;
    }
  }
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A set's shards by their numbers may be many more than there are: its count
// is only a name. Beyond this nobody reads the list.
constexpr std::int64_t kMaxCount = 100000;

}  // namespace

std::optional<std::string> ShardPrefix(const std::string& path) {
  const std::string name = NameOf(path);
  if (!IsShardName(name)) {
    return std::nullopt;
  }
  return name.substr(0, name.rfind('-', name.rfind("-of-") - 1));
}

ExpectedShards::ExpectedShards(const std::vector<std::string>& paths) {
  constexpr std::array<std::string_view, 3> kSplits = {"train", "validation",
                                                       "test"};
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    const std::string folder = FolderOf(path);
    folders.insert(folder);
    if (std::find(kSplits.begin(), kSplits.end(), NameOf(folder)) !=
        kSplits.end()) {
      folders.insert(FolderOf(folder));
    }
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
        entries_[PathIn(folder, shard.name)] = {
            .shard = shard, .split = folder + "/" + split.name};
      }
    }
  } catch (const DataError& error) {
    problems_.emplace_back(error.what());
  } catch (const IoError&) {
    if (!IsUrl(folder)) {
      throw;
    }
    // A server may give out shards and refuse all else.
  }
}

std::optional<DatasetInfo::Shard> ExpectedShards::Find(
    const std::string& path) const {
  const auto found = entries_.find(path);
  return found == entries_.end() ? std::nullopt
                                 : std::optional(found->second.shard);
}

std::vector<std::string> ExpectedShards::SiblingsOf(
    const std::vector<std::string>& paths) const {
  std::set<std::string> splits;
  for (const std::string& path : paths) {
    const auto found = entries_.find(path);
    if (found != entries_.end()) {
      splits.insert(found->second.split);
    }
  }
  std::vector<std::string> siblings;
  for (const auto& [path, entry] : entries_) {
    if (splits.contains(entry.split)) {
      siblings.push_back(path);
    }
  }
  return siblings;
}

std::vector<std::string> Differences(const DatasetInfo::Shard& expected,
                                     std::int64_t records, std::int64_t bytes,
                                     std::uint32_t crc32c) {
  std::vector<std::string> differences;
  if (records != expected.records) {
    differences.push_back(fmt::format("holds {} records, dataset.json says {}",
                                      records, expected.records));
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

std::vector<std::string> MissingShards(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& named,
                                       const ExpectedShards& expected) {
  std::map<ShardSet, std::vector<std::string>> sets;
  for (const std::string& path : paths) {
    if (const std::optional<ShardSet> set = SetOf(path)) {
      sets[*set].push_back(path);
    }
  }
  std::set<std::string> missing;
  for (const auto& [set, members] : sets) {
    const bool alone =
        members.size() == 1 &&
        std::find(named.begin(), named.end(), members[0]) != named.end();
    if (alone) {
      continue;
    }
    for (std::int64_t i = 0; i < std::min(set.count, kMaxCount); ++i) {
      if (std::string path = PathOf(set, i); !Exists(path)) {
        missing.insert(std::move(path));
      }
    }
    for (const std::string& path : expected.SiblingsOf(members)) {
      if (!Exists(path)) {
        missing.insert(path);
      }
    }
  }
  return {missing.begin(), missing.end()};
}

}  // namespace infeed
