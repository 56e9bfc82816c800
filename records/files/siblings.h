#pragma once

#include <string>
#include <vector>

namespace infeed {

// Returns the other files of records that belong to the same data set by their
// names: they lie in the same folder, or in the split folders (train/, val/,
// test/) beside the folder of a shard, and their names differ in the split and
// in numbers only: "a-train-0007.tar" and "a-val-0001.tar". Sorted. Empty for a
// server that does not list its files. Throws IoError for a folder that cannot
// be listed.
[[nodiscard]] std::vector<std::string> FindSiblings(
    const std::vector<std::string>& shards);

}  // namespace infeed
