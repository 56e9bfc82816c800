#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infeed {

// The contents of dataset.json, which describes a set of shards.
// docs/formats.md has the format.
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
  // Class i has the label *first_label + i.
  std::vector<std::string> classes = {};
  // 0 or 1; nullopt: not known. An older dataset.json with classes but without
  // this field means 1, as the converter numbered.
  std::optional<int> first_label = {};
  std::vector<Split> splits = {};
};

// Writes DIR/dataset.json atomically. DIR may be a URL, here and below.
void WriteDatasetInfo(const std::string& data_dir, const DatasetInfo& info);

// Reads DIR/dataset.json; nullopt when there is none. Throws DataError when it
// is not valid.
[[nodiscard]] std::optional<DatasetInfo> ReadDatasetInfo(
    const std::string& data_dir);

// The folders in which a shard's dataset.json may lie: the shard's own, and its
// parent if the shard's folder is named after a split (train/).
[[nodiscard]] std::vector<std::string> DatasetFolders(const std::string& shard);

// Reads the first labels.txt that exists in DatasetFolders(); empty: there is
// none. Throws as ReadClassList().
[[nodiscard]] std::vector<std::string> FindClassList(const std::string& shard);

// Reads the first dataset.json that exists in DatasetFolders(); throws as
// ReadDatasetInfo().
[[nodiscard]] std::optional<DatasetInfo> FindDatasetInfo(
    const std::string& shard);

// DIR/.infeed/unfinished: the shards of a conversion into DIR that has not
// ended, from before the first one until dataset.json lists all, so that
// readers miss those that a killed conversion did not make. names: relative to
// the folder. Throws IoError.
void WriteUnfinished(const std::string& data_dir,
                     const std::vector<std::string>& names);
void RemoveUnfinished(const std::string& data_dir);

// Empty if there is no such file, if it cannot be read, or if data_dir is a
// URL. Names that no shard has are left out.
[[nodiscard]] std::vector<std::string> ReadUnfinished(
    const std::string& data_dir);

}  // namespace infeed
