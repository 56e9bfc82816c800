#pragma once

#include <string>
#include <vector>

namespace infeed {

// Removes from a command line's PATHs, and returns, files that a shell's
// "SHARDS/*" matches besides shards, recognized by name: hidden files and
// folders, and text files such as dataset.json, labels.txt, DALI's .idx and
// reports. Removes none if no other PATH would be left.
[[nodiscard]] std::vector<std::string> TakeSideFiles(
    std::vector<std::string>& paths);

// "skipped 3 files that are not shards, such as dataset.json"; empty for none.
[[nodiscard]] std::string SkippedText(const std::vector<std::string>& skipped);

}  // namespace infeed
