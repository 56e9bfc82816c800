#include "records/files/side_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/bytes/cache_folder.h"
#include "records/bytes/fnv_hash.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::atomic<int> without_side_files = 0;

std::string MakeName(const std::string& shard, std::string_view ending) {
  return fs::path(shard).filename().string().append(ending);
}

// Makes the folder if needed; returns whether it exists, is no link and is
// writable. Its last name is ours.
bool MakeWritableFolder(const std::string& folder) {
  try {
    const Descriptor opened = MakeAndOpenFolder(folder, 1);
    return ::faccessat(opened.get(), ".", W_OK | X_OK, 0) == 0;
  } catch (const IoError&) {
    return false;
  }
}

// Makes one of the folders, from `first` on. Throws IoError if none can be.
std::string FirstWritable(const std::vector<std::string>& folders,
                          std::size_t first) {
  if (without_side_files > 0) {
    throw IoError("this run writes no side files");
  }
  for (std::size_t i = first; i < folders.size(); ++i) {
    if (MakeWritableFolder(folders[i])) {
      return folders[i];
    }
  }
  throw IoError(
      "cannot make a folder for side files: neither " + folders[0] + " nor " +
      (folders.size() > 1 ? folders[1] : "~/.cache (HOME is not set)") +
      " can be written");
}

}  // namespace

WithoutSideFiles::WithoutSideFiles() { ++without_side_files; }

WithoutSideFiles::~WithoutSideFiles() { --without_side_files; }

std::string KeyedEnding(std::string_view ending, std::string_view key,
                        std::string_view standard) {
  return (key == standard ? "" : "." + FnvHashText(key)).append(ending);
}

std::string SidePathBeside(const std::string& shard, std::string_view ending) {
  return ParentFolder(shard) + "/.infeed/" + MakeName(shard, ending);
}

std::vector<std::string> SidePaths(const std::string& shard,
                                   std::string_view ending) {
  std::vector<std::string> paths;
  for (const std::string& folder : SideFolders(ParentFolder(shard))) {
    paths.push_back(folder + "/" + MakeName(shard, ending));
  }
  if (IsUrl(shard)) {
    std::reverse(paths.begin(), paths.end());
  }
  return paths;
}

std::string SidePathToWrite(const std::string& shard, std::string_view ending) {
  return SideFolder(ParentFolder(shard)) + "/" + MakeName(shard, ending);
}

std::vector<std::string> SideFolders(const std::string& data_folder) {
  std::vector<std::string> folders = {
      (fs::path(data_folder) / ".infeed").string()};
  if (const std::string cache = UserCacheFolder(); !cache.empty()) {
    folders.push_back(
        (fs::path(cache) / "infeed" /
         FnvHashText(
             IsUrl(data_folder)
                 ? data_folder
                 : fs::absolute(data_folder).lexically_normal().string()))
            .string());
  }
  return folders;
}

std::string SideFolder(const std::string& data_folder) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(data_folder, ignored);
  return FirstWritable(SideFolders(data_folder), is_folder ? 0 : 1);
}

std::string CachedSideFolder(const std::string& data_folder) {
  return FirstWritable(SideFolders(data_folder), 1);
}

}  // namespace infeed
