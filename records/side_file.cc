#include "records/side_file.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "records/open_source.h"
#include "records/shards.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& shard) {
  const fs::path folder = fs::path(shard).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string NameOf(const std::string& shard, std::string_view ending) {
  return fs::path(shard).filename().string().append(ending);
}

}  // namespace

std::string SidePathBeside(const std::string& shard, std::string_view ending) {
  return FolderOf(shard) + "/.infeed/" + NameOf(shard, ending);
}

std::vector<std::string> SidePaths(const std::string& shard,
                                   std::string_view ending) {
  std::vector<std::string> paths = {SidePathBeside(shard, ending)};
  try {
    paths.push_back(SidePathToWrite(shard, ending));
  } catch (const IoError&) {  // There is no place for side files.
  }
  if (IsUrl(shard)) {
    std::reverse(paths.begin(), paths.end());
  }
  return paths;
}

std::string SidePathToWrite(const std::string& shard, std::string_view ending) {
  return SideFolder(FolderOf(shard)) + "/" + NameOf(shard, ending);
}

}  // namespace infeed
