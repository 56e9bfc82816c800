#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

// Checks whether shards are the complete set that their names and dataset.json
// describe.
namespace infeed {

struct ChangedSize {
  std::int64_t bytes = 0;
  std::int64_t listed = 0;  // in dataset.json
};

struct ShardSetFaults {
  // Paths of missing shards, each with the number of records in dataset.json;
  // -1 if it lists none.
  std::map<std::string, std::int64_t> missing;
  // Other reasons why the shards are not one set, a sentence each.
  std::set<std::string> mixed;
  // Folders with missing shards that an unfinished conversion has not made.
  std::set<std::string> unfinished = {};
  // Paths of shards that have another size than dataset.json lists: they were
  // cut short, or are of another conversion.
  std::map<std::string, ChangedSize> changed = {};

  [[nodiscard]] bool any() const {
    return !missing.empty() || !mixed.empty() || !changed.empty();
  }
  void Add(const ShardSetFaults& more);
};

// "2 shards are missing: A, B; 250 images are missing". Requires: shards are
// missing.
[[nodiscard]] std::string MissingShardsText(const ShardSetFaults& faults);
// "2 shards differ from dataset.json: A (17 bytes, not 34), B (...)". Requires:
// shards have changed.
[[nodiscard]] std::string ChangedShardsText(const ShardSetFaults& faults);

// Called for a set with faults.
using OnShardSetFaults = std::function<void(const ShardSetFaults&)>;

// Throws DataError that names the faults and what to do.
void RefuseFaults(const ShardSetFaults& faults);

// Returns RefuseFaults(); with allow_missing, missing and changed shards are
// only reported through `say`, and reading continues.
[[nodiscard]] OnShardSetFaults FaultsPolicy(
    bool allow_missing, std::function<void(const std::string&)> say);

// Sizes of objects, by URL, as their store lists them.
using ObjectSizes = std::map<std::string, std::int64_t>;

// Describes the set that shards should form.
struct ShardSet {
  // Folders whose dataset.json, if readable, lists the set's shards.
  std::set<std::string> folders = {};
  // Whether all shards of a prefix and a split are one set, be they in a folder
  // of the split or not.
  bool across_folders = false;
  // Whether a shard of this path belongs to it.
  std::function<bool(const std::string& path)> includes = {};
  // Those of shards in an object store; the sizes of others are not compared.
  ObjectSizes sizes = {};
};

// Compares shards, with paths as ListShards() returns them, with the expected
// ones: each number of an -of-NNNNN set once (from 0, or from 1 if shard NNNNN
// exists; also of tars and other files, by ParseNameInSet()), and the shards in
// dataset.json with their sizes, or, without one, those of an unfinished
// conversion. Reads no shard.
[[nodiscard]] ShardSetFaults FindFaults(const std::vector<std::string>& shards,
                                        const ShardSet& expected);

// The set of a folder: its own shards and those of its folders train,
// validation and test.
[[nodiscard]] ShardSet SetOfFolder(const std::string& folder);
// The set of one split in a folder.
[[nodiscard]] ShardSet SetOfSplit(const std::string& folder,
                                  const std::string& split);
// The set of one split's other files of records, such as tars: those that
// FindSplitFiles() finds.
[[nodiscard]] ShardSet SetOfSplitFiles(const std::string& folder,
                                       const std::string& split);
// The set of a pattern: the paths that it matches. `shards` are those that it
// found.
[[nodiscard]] ShardSet SetOfPattern(const std::string& pattern,
                                    const std::vector<std::string>& shards);

// The folders whose dataset.json may list shards of this one: itself, and for
// train/, validation/ and test/ its parent.
[[nodiscard]] std::set<std::string> DescribingFolders(
    const std::string& folder);

// The folder of a path or URL, "" for a name alone; and the path of a name in a
// folder, as ListShards() returns it.
[[nodiscard]] std::string FolderOfShard(const std::string& path);
[[nodiscard]] std::string ShardPathIn(const std::string& folder,
                                      const std::string& name);

}  // namespace infeed
