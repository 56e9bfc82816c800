#pragma once

#include <string>
#include <string_view>
#include <vector>

// Where our side files lie: those of a shard are FOLDER/.infeed/NAME and an
// ending, or in the user's cache where that cannot be written.
namespace infeed {

// Where our side files for a shard or a data set lie: FOLDER/.infeed, or,
// when that cannot be written, a folder for it in the user's cache. Makes the
// folder. Throws IoError when neither can be made.
[[nodiscard]] std::string SideFolder(const std::string& data_folder);

// Where they may lie, for who looks for them: beside the data, and in the
// user's cache where there is one. Makes nothing.
[[nodiscard]] std::vector<std::string> SideFolders(
    const std::string& data_folder);

[[nodiscard]] std::string SidePathBeside(const std::string& shard,
                                         std::string_view ending);

// Where it may lie, the likeliest place first. Beside the data it may be
// somebody else's: readable, but not for us to write. An object's is nearer in
// the user's cache. Makes nothing.
[[nodiscard]] std::vector<std::string> SidePaths(const std::string& shard,
                                                 std::string_view ending);

// Where to write it: in SideFolder(), which is made. Throws IoError.
[[nodiscard]] std::string SidePathToWrite(const std::string& shard,
                                          std::string_view ending);

}  // namespace infeed
