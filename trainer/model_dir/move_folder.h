#pragma once

#include <string>

// Renames and removes folders. All throw IoError naming the folder.
namespace infeed {

void RenameFolder(const std::string& from, const std::string& to);

// Removes the folder and everything in it; a missing folder is no error.
void RemoveFolder(const std::string& folder);

// Renames the folder to `aside`, then removes it: nobody ever sees a folder
// that is half removed. aside: a name that readers ignore.
void RemoveFolderWhole(const std::string& folder, const std::string& aside);

}  // namespace infeed
