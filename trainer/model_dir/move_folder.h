#pragma once

#include <string>

// Folders that change as wholes. All throw IoError naming the folder.
namespace infeed {

void RenameFolder(const std::string& from, const std::string& to);

// With all that is in it; one that is not there is no error.
void RemoveFolder(const std::string& folder);

// The same by way of `aside`, a name that means nothing: a folder that is half
// gone is none.
void RemoveFolderWhole(const std::string& folder, const std::string& aside);

}  // namespace infeed
