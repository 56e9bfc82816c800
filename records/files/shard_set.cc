#include "records/files/shard_set.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 20;
// Limit of missing shards of one set: the set's count comes from a file name
// and may be any number.
constexpr std::int64_t kMostMissing = 100'000;

// The existing shards of one set, by number.
using Members = std::map<std::int64_t, std::string>;

// FOLDER/PREFIX-...-of-COUNT.
struct SetName {
  std::string folder;
  std::string prefix;
  std::int64_t count = 0;

  friend auto operator<=>(const SetName&, const SetName&) = default;
};

using Sets = std::map<SetName, Members>;

// 0 for a number that is too large: no set has so many shards.
std::int64_t ParseDigits(std::string_view digits) {
  return ParsePlainNumber<std::int64_t>(digits).value_or(0);
}

// The folder of a set's name. A split's shards may lie in the data set's folder
// and in one of the split, SPLIT-* and SPLIT/SPLIT-*: their set is the split's.
std::string FolderOfSet(const std::string& path, const ShardSet& expected) {
  std::string folder = FolderOfShard(path);
  if (!expected.across_folders) {
    return folder;
  }
  const std::string_view split = SplitNamed(BaseName(folder));
  return std::string(split.empty() ? SplitInName(BaseName(path)) : split);
}

Sets CollectSets(const std::vector<std::string>& shards,
                 const ShardSet& expected, ShardSetFaults& faults) {
  Sets sets;
  for (const std::string& path : shards) {
    const std::string_view base = BaseName(path);
    const std::optional<ShardNameParts> name = ParseNameInSet(base);
    if (!name) {
      continue;
    }
    const SetName set = {.folder = FolderOfSet(path, expected),
                         .prefix = std::string(name->prefix),
                         .count = ParseDigits(name->count)};
    const auto [other, is_new] =
        sets[set].try_emplace(ParseDigits(name->number), path);
    if (!is_new) {
      faults.mixed.insert(PathForMessages(other->second) + " and " +
                          PathForMessages(path) +
                          " are the same shard of a set");
    }
  }
  return sets;
}

// Finds sets with the same prefix and different counts, such as an old
// conversion beside a new one.
void FindTwoSizes(const Sets& sets, ShardSetFaults& faults) {
  const std::pair<const SetName, Members>* before = nullptr;
  for (const auto& set : sets) {
    if (before != nullptr && before->first.folder == set.first.folder &&
        before->first.prefix == set.first.prefix) {
      faults.mixed.insert(PathForMessages(before->second.begin()->second) +
                          " and " +
                          PathForMessages(set.second.begin()->second) +
                          " belong to different sets");
    }
    before = &set;
  }
}

// Returns the path of shard `number`: the path of another shard of the set,
// with its number replaced.
std::string PathOfNumber(const std::string& other, std::int64_t number) {
  const std::string base(BaseName(other));
  const ShardNameParts parts = ParseNameInSet(base).value();
  std::string digits = std::to_string(number);
  digits.insert(
      0, parts.number.size() - std::min(parts.number.size(), digits.size()),
      '0');
  std::string name = base;
  name.replace(static_cast<std::size_t>(parts.number.data() - base.data()),
               parts.number.size(), digits);
  return ShardPathIn(FolderOfShard(other), name);
}

void FindMissingNumbers(const SetName& set, const Members& members,
                        const ShardSet& expected, ShardSetFaults& faults) {
  const auto& [last, last_path] = *members.rbegin();
  const bool from_one = members.contains(set.count) && !members.contains(0);
  std::int64_t number = from_one ? 1 : 0;
  const std::int64_t end = number + set.count;
  if (last >= end && set.count > 0) {
    faults.mixed.insert(PathForMessages(last_path) +
                        " is beyond the last number of its set");
  }
  std::int64_t missing = 0;
  auto present = members.lower_bound(number);
  for (; number < end && missing < kMostMissing; ++number) {
    if (present != members.end() && present->first == number) {
      ++present;
      continue;
    }
    ++missing;
    const std::string path = PathOfNumber(last_path, number);
    if (expected.includes(path)) {
      faults.missing.emplace(path, -1);
    }
  }
}

// A compressed shard may have the same name with ".gz".
std::string WithoutEnding(const std::string& path) {
  return path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
}

std::optional<DatasetInfo> DescriptionIn(const std::string& folder) {
  try {
    return ReadDatasetInfo(folder);
  } catch (const Error&) {
    // Not reported here: code that needs dataset.json does so, and a server may
    // offer only shards.
    return std::nullopt;
  }
}

// nullopt: not known.
std::optional<std::int64_t> SizeOfShard(const std::string& path,
                                        const ShardSet& expected) {
  if (IsUrl(path)) {
    const auto found = expected.sizes.find(path);
    return found == expected.sizes.end() ? std::nullopt
                                         : std::optional(found->second);
  }
  std::error_code error;  // Whoever opens the file reports it.
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? std::nullopt : std::optional(static_cast<std::int64_t>(bytes));
}

// A shard that was packed since has another name, and so any size.
void FindChangedListed(const std::vector<std::string>& shards,
                       const std::string& folder, const DatasetInfo& info,
                       const ShardSet& expected, ShardSetFaults& faults) {
  const std::set<std::string_view> there(shards.begin(), shards.end());
  for (const DatasetInfo::Split& split : info.splits) {
    for (const DatasetInfo::Shard& shard : split.shards) {
      const std::string path = ShardPathIn(folder, shard.name);
      const std::optional<std::int64_t> bytes =
          there.contains(path) ? SizeOfShard(path, expected) : std::nullopt;
      if (bytes && *bytes != shard.bytes) {
        faults.changed[path] = {.bytes = *bytes, .listed = shard.bytes};
      }
    }
  }
}

void FindMissingListed(const std::vector<std::string>& shards,
                       const ShardSet& expected, ShardSetFaults& faults) {
  std::set<std::string> there;
  for (const std::string& path : shards) {
    there.insert(WithoutEnding(path));
  }
  for (const std::string& folder : expected.folders) {
    const auto expect = [&](const std::string& name, std::int64_t records) {
      const std::string path = ShardPathIn(folder, name);
      const bool is_missing =
          !there.contains(WithoutEnding(path)) && expected.includes(path);
      if (is_missing) {
        faults.missing[path] = records;
      }
      return is_missing;
    };
    const std::optional<DatasetInfo> info = DescriptionIn(folder);
    for (const DatasetInfo::Split& split :
         info ? info->splits : std::vector<DatasetInfo::Split>()) {
      for (const DatasetInfo::Shard& shard : split.shards) {
        (void)expect(shard.name, shard.records);
      }
    }
    if (info) {  // A conversion removes it first and writes it last.
      FindChangedListed(shards, folder, *info, expected, faults);
      continue;
    }
    for (const std::string& name : ReadUnfinished(folder)) {
      if (expect(name, -1)) {
        faults.unfinished.insert(folder);
      }
    }
  }
}

// Names the first few shards, each with what is known of it.
template <typename Known, typename Describe>
std::string FirstOnes(const std::map<std::string, Known>& shards,
                      const Describe& describe) {
  std::string text;
  std::size_t named = 0;
  for (const auto& [path, known] : shards) {
    if (named == kNamed) {
      return text + " and " + std::to_string(shards.size() - named) + " more";
    }
    text += (named++ == 0 ? "" : ", ") + PathForMessages(path);
    text += describe(known);
  }
  return text;
}

}  // namespace

void ShardSetFaults::Add(const ShardSetFaults& more) {
  missing.insert(more.missing.begin(), more.missing.end());
  mixed.insert(more.mixed.begin(), more.mixed.end());
  unfinished.insert(more.unfinished.begin(), more.unfinished.end());
  changed.insert(more.changed.begin(), more.changed.end());
}

std::string MissingShardsText(const ShardSetFaults& faults) {
  const std::string text =
      CountText(faults.missing.size(),
                "shard is missing: ", "shards are missing: ") +
      FirstOnes(faults.missing, [](std::int64_t) { return std::string(); });
  std::int64_t images = 0;
  bool is_known = true;
  for (const auto& [path, records] : faults.missing) {
    images += records;
    is_known = is_known && records >= 0;
  }
  if (!faults.unfinished.empty()) {
    return text + "; the conversion into " +
           PathForMessages(*faults.unfinished.begin()) +
           " has not finished (run it again)";
  }
  return text + "; " +
         (is_known ? CountText(images, "image is missing", "images are missing")
                   : "no dataset.json has the number of missing images");
}

std::string ChangedShardsText(const ShardSetFaults& faults) {
  return CountText(faults.changed.size(), "shard differs from dataset.json: ",
                   "shards differ from dataset.json: ") +
         FirstOnes(faults.changed, [](const ChangedSize& size) {
           return " (" + CountText(size.bytes, "byte") + ", not " +
                  std::to_string(size.listed) + ")";
         });
}

void RefuseFaults(const ShardSetFaults& faults) {
  if (!faults.mixed.empty()) {
    throw DataError(
        *faults.mixed.begin() +
        ": move the shards of other sets away, or select one set by "
        "a pattern");
  }
  if (!faults.missing.empty()) {
    throw DataError(MissingShardsText(faults) +
                    ": restore them, name those that are there, or continue "
                    "without them with --allow_missing_shards");
  }
  if (!faults.changed.empty()) {
    throw DataError(ChangedShardsText(faults) +
                    ": restore all shards and dataset.json of one conversion, "
                    "or use them as they are with --allow_missing_shards");
  }
}

OnShardSetFaults FaultsPolicy(bool allow_missing,
                              std::function<void(const std::string&)> say) {
  return [allow_missing, say = std::move(say)](ShardSetFaults faults) {
    if (allow_missing && !faults.missing.empty()) {
      say(MissingShardsText(faults));
      faults.missing.clear();
    }
    if (allow_missing && !faults.changed.empty()) {
      say(ChangedShardsText(faults));
      faults.changed.clear();
    }
    RefuseFaults(faults);
  };
}

ShardSetFaults FindFaults(const std::vector<std::string>& shards,
                          const ShardSet& expected) {
  ShardSetFaults faults;
  const Sets sets = CollectSets(shards, expected, faults);
  FindTwoSizes(sets, faults);
  for (const auto& [set, members] : sets) {
    FindMissingNumbers(set, members, expected, faults);
  }
  FindMissingListed(shards, expected, faults);
  return faults;
}

ShardSet SetOfFolder(const std::string& folder) {
  const std::string own = FolderOfShard(ShardPathIn(folder, "x"));
  return {.folders = DescribingFolders(folder),
          .across_folders = true,
          .includes = [own](const std::string& path) {
            const std::string in = FolderOfShard(path);
            return in == own || (FolderOfShard(in) == own &&
                                 !SplitNamed(BaseName(in)).empty());
          }};
}

ShardSet SetOfSplit(const std::string& folder, const std::string& split) {
  ShardSet set = SetOfFolder(folder);
  set.includes = [in_folder = std::move(set.includes),
                  split](const std::string& path) {
    return in_folder(path) && SplitNamed(ShardPrefix(BaseName(path))) == split;
  };
  return set;
}

ShardSet SetOfSplitFiles(const std::string& folder, const std::string& split) {
  const std::string own = FolderOfShard(ShardPathIn(folder, "x"));
  ShardSet set = SetOfFolder(folder);
  set.includes = [own, in_folder = std::move(set.includes),
                  split](const std::string& path) {
    const std::string in = FolderOfShard(path);
    const std::string_view base = BaseName(path);
    return in_folder(path) && SplitNamed(ShardPrefix(base)) != split &&
           (in == own ? MayBeOfSplit(base, split)
                      : SplitNamed(BaseName(in)) == split);
  };
  return set;
}

ShardSet SetOfPattern(const std::string& pattern,
                      const std::vector<std::string>& shards) {
  const std::string spelled =
      ShardPathIn(FolderOfShard(pattern), std::string(BaseName(pattern)));
  ShardSet set = {.includes = [spelled](const std::string& path) {
    return ::fnmatch(spelled.c_str(), path.c_str(), FNM_PATHNAME) == 0;
  }};
  for (const std::string& shard : shards) {
    set.folders.merge(DescribingFolders(FolderOfShard(shard)));
  }
  return set;
}

std::set<std::string> DescribingFolders(const std::string& folder) {
  const std::vector<std::string> folders =
      DatasetFolders(ShardPathIn(folder, "x"));
  return {folders.begin(), folders.end()};
}

std::string FolderOfShard(const std::string& shard) {
  // Without a query, which may have slashes.
  const std::string path = PathForMessages(shard);
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos
             ? ""
             : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::string ShardPathIn(const std::string& folder, const std::string& name) {
  return IsUrl(folder) ? folder + (folder.ends_with('/') ? "" : "/") + name
                       : (fs::path(folder) / name).lexically_normal().string();
}

}  // namespace infeed
