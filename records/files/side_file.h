#pragma once

#include <string>
#include <string_view>
#include <vector>

// Paths of side files: FOLDER/.infeed/NAME plus an extension for a shard, or in
// the user's cache if that folder is not writable.
namespace infeed {

// While one lives, this process writes no side files: what would return a path
// for writing throws IoError, as if no folder could be written. For dry runs.
// Thread-safe.
class WithoutSideFiles {
 public:
  WithoutSideFiles();
  ~WithoutSideFiles();
  WithoutSideFiles(const WithoutSideFiles&) = delete;
  WithoutSideFiles& operator=(const WithoutSideFiles&) = delete;
};

// Returns the folder for side files of a shard or a data set, and makes it:
// FOLDER/.infeed, or, if that is not writable or is a symbolic link, a folder
// in the user's cache. Files in it are written with kInOwnFolder. Throws
// IoError when neither can be made.
[[nodiscard]] std::string SideFolder(const std::string& data_folder);

// Returns the one in the user's cache, and makes it. Throws IoError.
[[nodiscard]] std::string CachedSideFolder(const std::string& data_folder);

// Returns the folders in which to look for side files: beside the data, and in
// the user's cache if there is one. Makes no folder.
[[nodiscard]] std::vector<std::string> SideFolders(
    const std::string& data_folder);

// Returns the ending of a side file that depends on a key of the records: the
// ending itself for the standard key, else with a hash of the key before it, so
// that the files of several keys lie beside each other.
[[nodiscard]] std::string KeyedEnding(std::string_view ending,
                                      std::string_view key,
                                      std::string_view standard);

[[nodiscard]] std::string SidePathBeside(const std::string& shard,
                                         std::string_view ending);

// Returns the paths at which to look for a side file, the likeliest first.
// Beside the data it may belong to another user and be read-only. For an object
// the user's cache comes first, as it is nearer. Makes no folder.
[[nodiscard]] std::vector<std::string> SidePaths(const std::string& shard,
                                                 std::string_view ending);

// Returns the path for writing a side file, in SideFolder(), which is made.
// Throws IoError.
[[nodiscard]] std::string SidePathToWrite(const std::string& shard,
                                          std::string_view ending);

}  // namespace infeed
