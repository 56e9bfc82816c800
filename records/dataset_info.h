#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infeed {

// What dataset.json says of a set of shards. docs/formats.md has the format.
struct DatasetInfo {
  struct Shard {
    std::string name;  // relative to the data set's folder
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    std::string crc32c;  // of the file, 8 hex digits
  };
  struct Split {
    std::string name;  // train, validation or test
    std::int64_t records = 0;
    std::vector<Shard> shards;
  };

  std::uint64_t seed = 0;
  std::vector<std::string> classes;  // class i has the label i + 1
  std::vector<Split> splits;
};

// Writes DIR/dataset.json whole. DIR may be a URL, here and below.
void WriteDatasetInfo(const std::string& data_dir, const DatasetInfo& info);

// Reads DIR/dataset.json; nullopt when there is none. Throws DataError when
// it is not what it should be.
[[nodiscard]] std::optional<DatasetInfo> ReadDatasetInfo(
    const std::string& data_dir);

}  // namespace infeed
