#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/files/shard_set.h"

// What a set of shards should be, by their names and by the dataset.json that
// lies beside them or in the folder above, in an object store too.
namespace infeed {

// What descriptions say of shards. Const members may be called from several
// threads at once; others need one thread at a time.
class ExpectedShards {
 public:
  ExpectedShards() = default;  // Nothing is known of any.
  // Reads the descriptions of these shards.
  explicit ExpectedShards(const std::vector<std::string>& paths);

  // Of one of the shards; nullopt when no description has it.
  [[nodiscard]] std::optional<DatasetInfo::Shard> Find(
      const std::string& path) const;
  // Descriptions that cannot be read: a line for each.
  [[nodiscard]] const std::vector<std::string>& problems() const {
    return problems_;
  }

 private:
  void Read(const std::string& folder);

  std::map<std::string, DatasetInfo::Shard> entries_;  // by path
  std::vector<std::string> problems_;
};

// Where a shard is not what was expected: a sentence for each. crc32c is that
// of the file.
[[nodiscard]] std::vector<std::string> Differences(
    const DatasetInfo::Shard& expected, std::int64_t records,
    std::int64_t bytes, std::uint32_t crc32c);

// What is wrong with the sets that these shards are of, whichever of them were
// named: shards that are not there. `named` are the paths as the user gave
// them: of a single shard that was named itself no others are expected.
// dataset_json: whether what it lists is expected as well.
[[nodiscard]] ShardSetFaults FaultsAround(const std::vector<std::string>& paths,
                                          const std::vector<std::string>& named,
                                          bool dataset_json);

}  // namespace infeed
