#pragma once

#include <string>

#include "base/descriptor.h"

// Files and folders whose names the program has chosen, in a folder that the
// user has named: FOLDER/.infeed/train-00000-of-00005.index, MODEL/eval/N.json.
// FOLDER may come from a stranger, with a symbolic link or a FIFO at such a
// name. A path's own_names says how many of its last names are the program's:
// at those no link is followed and nothing but a regular file is opened.
// Names before them are the user's, whose links are followed.
//
// Every function throws IoError naming the path, and those that make a folder
// or a file RefuseUrl().
namespace infeed {

// The own_names of a path that the user has given in full.
inline constexpr int kNamedByUser = 0;
// The own_names of a file in a folder that the program has made:
// FOLDER/.infeed/NAME.
inline constexpr int kInOwnFolder = 2;

// Throws UsageError for a path that begins as a URL, for which a folder named
// "s3:" would be made. flag: in front of the path in the message.
void RefuseUrl(const std::string& path, const std::string& flag = "");

// Throws IoError that names the folder of a file to be written if there is no
// such folder.
void RequireParentFolder(const std::string& path);

// Opens a folder. Each of the program's names is opened separately in its
// parent folder (openat with O_NOFOLLOW): this needs no openat2, and no link is
// followed even while others rename folders.
[[nodiscard]] Descriptor OpenFolder(const std::string& folder, int own_names);

// As OpenFolder(), but makes the folder and its missing parent folders.
Descriptor MakeAndOpenFolder(const std::string& folder, int own_names);

// Opens a log or a lock for reading and writing, and makes it if it is missing.
// Refuses symbolic and hard links, and anything but a regular file. Requires:
// own_names > 0.
[[nodiscard]] Descriptor OpenOwnFile(const std::string& path, int own_names);

}  // namespace infeed
