#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The text files that say which records make an epoch. All throw IoError, and
// DataError naming file and line for what they cannot be.
namespace infeed {

// Reads record numbers, from 0 and below `records`: on each line one, or a
// range of them as 100-199, each record once. They keep their order.
[[nodiscard]] std::vector<std::uint32_t> ReadRecordList(const std::string& path,
                                                        std::int64_t records);

// Reads a weight a line, line i for record i, of `records` records.
[[nodiscard]] std::vector<double> ReadSampleWeights(const std::string& path,
                                                    std::int64_t records);

// Reads a class and a weight a line, each class once.
[[nodiscard]] std::map<std::string, double> ReadClassWeights(
    const std::string& path);

// Returns the weight, 0 or more, that a text is; a negative one: it is none.
[[nodiscard]] double ParseWeight(std::string_view text);

}  // namespace infeed
