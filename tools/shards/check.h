#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/files/shard_set.h"

// Compares a set of shards with their names and with the dataset.json beside
// them or in the folder above, also in an object store.
namespace infeed {

// The entries of shards in dataset.json files. Const members may be called from
// several threads at once; others need one thread at a time.
class ExpectedShards {
 public:
  ExpectedShards() = default;  // No entries.
  // Reads the dataset.json files of these shards.
  explicit ExpectedShards(const std::vector<std::string>& paths);

  // The entry of one of the shards; nullopt: none.
  [[nodiscard]] std::optional<DatasetInfo::Shard> Find(
      const std::string& path) const;
  // A line for each dataset.json that cannot be read.
  [[nodiscard]] const std::vector<std::string>& problems() const {
    return problems_;
  }

 private:
  void Read(const std::string& folder);

  std::map<std::string, DatasetInfo::Shard> entries_;  // by path
  std::vector<std::string> problems_;
};

// A sentence for each difference of a shard from its entry. crc32c: of the
// file.
[[nodiscard]] std::vector<std::string> Differences(
    const DatasetInfo::Shard& expected, std::int64_t records,
    std::int64_t bytes, std::uint32_t crc32c);

// The missing shards of the sets to which these shards belong. named: the paths
// as given by the user; if they name a single shard, no others are expected.
// dataset_json: also expect the shards that dataset.json lists.
[[nodiscard]] ShardSetFaults FaultsAround(const std::vector<std::string>& paths,
                                          const std::vector<std::string>& named,
                                          bool dataset_json);

}  // namespace infeed
