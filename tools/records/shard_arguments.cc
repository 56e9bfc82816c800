#include "tools/records/shard_arguments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "records/files/open_source.h"

namespace infeed {
namespace {

// Extensions that no shard has: shard names end in numbers or .gz.
constexpr std::array<std::string_view, 14> kExtensions = {
    "csv", "html", "idx", "jpg", "json", "jsonl", "log",
    "md",  "pb",   "png", "tsv", "txt",  "yaml",  "yml"};

bool IsSideFile(const std::string& path) {
  const std::string name = FileNameOf(path);
  const std::size_t dot = name.rfind('.');
  return (name.starts_with('.') && name.find_first_not_of('.') != name.npos) ||
         (dot != name.npos &&
          std::ranges::find(kExtensions, name.substr(dot + 1)) !=
              kExtensions.end());
}

}  // namespace

std::vector<std::string> TakeSideFiles(std::vector<std::string>& paths) {
  if (std::ranges::all_of(paths, IsSideFile)) {
    return {};
  }
  const auto first_skipped =
      std::stable_partition(paths.begin(), paths.end(),
                            [](const auto& path) { return !IsSideFile(path); });
  std::vector<std::string> skipped(first_skipped, paths.end());
  paths.erase(first_skipped, paths.end());
  return skipped;
}

std::string SkippedText(const std::vector<std::string>& skipped) {
  if (skipped.empty()) {
    return "";
  }
  return skipped.size() == 1
             ? fmt::format("skipped {}, which is not a shard",
                           PathForMessages(skipped.front()))
             : fmt::format("skipped {} files that are not shards, such as {}",
                           skipped.size(), PathForMessages(skipped.front()));
}

}  // namespace infeed
