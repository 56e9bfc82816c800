#pragma once

#include <string>
#include <vector>

namespace infeed {

// Takes out of the PATHs of a command line what a shell's "SHARDS/*" names
// beside shards, told by their names: hidden files and folders, and files of
// text such as dataset.json, labels.txt, DALI's .idx and reports. Returns them;
// none where no other PATH would be left.
[[nodiscard]] std::vector<std::string> TakeSideFiles(
    std::vector<std::string>& paths);

// "skipped 3 files that are not shards, such as dataset.json"; empty for none.
[[nodiscard]] std::string SkippedText(const std::vector<std::string>& skipped);

}  // namespace infeed
