#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Text files that select an epoch's records. All functions throw IoError, and
// DataError naming file and line for an invalid entry.
namespace infeed {

// Reads record numbers in 0..records-1, in file order: on each line one number
// or a range such as 100-199; no record may occur twice.
[[nodiscard]] std::vector<std::uint32_t> ReadRecordList(const std::string& path,
                                                        std::int64_t records);

// Reads one weight per line: line i for record i of `records` records.
[[nodiscard]] std::vector<double> ReadSampleWeights(const std::string& path,
                                                    std::int64_t records);

// Reads a class and a weight per line; each class may occur once.
[[nodiscard]] std::map<std::string, double> ReadClassWeights(
    const std::string& path);

// Parses a weight of 0 or more; returns a negative number for other texts.
[[nodiscard]] double ParseWeight(std::string_view text);

}  // namespace infeed
