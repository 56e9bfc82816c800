#pragma once

#include <string>
#include <string_view>
#include <vector>

// Where the side files of one shard lie: FOLDER/.infeed/NAME and an ending, or
// in the user's cache where that cannot be written.
namespace infeed {

[[nodiscard]] std::string SidePathBeside(const std::string& shard,
                                         std::string_view ending);

// Where it may lie, the likeliest place first. Beside the data it may be
// somebody else's: readable, but not for us to write. An object's is nearer in
// the user's cache.
[[nodiscard]] std::vector<std::string> SidePaths(const std::string& shard,
                                                 std::string_view ending);

// Where to write it: in SideFolder(), which is made. Throws IoError.
[[nodiscard]] std::string SidePathToWrite(const std::string& shard,
                                          std::string_view ending);

}  // namespace infeed
