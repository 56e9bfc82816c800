#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

// Whether shards are the whole set that their names and dataset.json say.
namespace infeed {

struct ShardSetFaults {
  // Paths of shards that should be there and are not, with the records that
  // dataset.json lists for them; -1: it does not.
  std::map<std::string, std::int64_t> missing;
  // What else cannot be one set: a sentence each.
  std::set<std::string> mixed;

  [[nodiscard]] bool any() const { return !missing.empty() || !mixed.empty(); }
  void Add(const ShardSetFaults& more);
};

// "2 shards are missing: A, B; 250 images are not there". Requires: some are.
[[nodiscard]] std::string MissingShardsText(const ShardSetFaults& faults);

// What is done about a set with faults.
using OnShardSetFaults = std::function<void(const ShardSetFaults&)>;

// Throws DataError naming them and what to do.
void RefuseFaults(const ShardSetFaults& faults);

// Refuses them; with allow_missing, `say` gets the sentence about missing
// shards instead, and reading goes on without these.
[[nodiscard]] OnShardSetFaults FaultsPolicy(
    bool allow_missing, std::function<void(const std::string&)> say);

// Which set shards should be.
struct ShardSet {
  // Folders whose dataset.json counts, where there is one that can be read.
  std::set<std::string> folders = {};
  // Whether all shards of a prefix are one set, whatever their folder.
  bool across_folders = false;
  // Whether a shard of this path belongs to it.
  std::function<bool(const std::string& path)> includes = {};
};

// Compares shards, as ListShards() spells them, with what is expected: every
// number of an -of-NNNNN set (from 0 on, or from 1 on where the last is there),
// once, and what dataset.json lists.
[[nodiscard]] ShardSetFaults FindFaults(const std::vector<std::string>& shards,
                                        const ShardSet& expected);

// The set that a folder means: its own shards and those of its folders train,
// validation and test.
[[nodiscard]] ShardSet SetOfFolder(const std::string& folder);
// One split of it.
[[nodiscard]] ShardSet SetOfSplit(const std::string& folder,
                                  const std::string& split);
// That of a pattern: what it matches. shards: those that it found.
[[nodiscard]] ShardSet SetOfPattern(const std::string& pattern,
                                    const std::vector<std::string>& shards);

// The folders whose dataset.json may list shards of this one: itself, and for
// train/, validation/ and test/ the one above.
[[nodiscard]] std::set<std::string> DescribingFolders(
    const std::string& folder);

// The folder of a path or a URL, "" for a name alone; and a path in a folder,
// as ListShards() spells it.
[[nodiscard]] std::string FolderOfShard(const std::string& path);
[[nodiscard]] std::string ShardPathIn(const std::string& folder,
                                      const std::string& name);

}  // namespace infeed
