#pragma once

#include <optional>
#include <string>

#include "records/archives/zip_classes.h"
#include "records/bytes/byte_source.h"

// The index file of a zip: its images as found in its directory, so that a
// directory of a million names is read once. docs/formats.md has the file's
// format.
namespace infeed {

// Reads a zip's index file, FOLDER/.infeed/NAME.index or the one in
// SideFolder(). nullopt when there is none, it is damaged, or it is for another
// size or modification time of the zip.
[[nodiscard]] std::optional<ZipImages> FindZipIndex(const ByteSource& zip);

// Writes a zip's index file atomically, in SideFolder(), and returns its path.
// Throws IoError.
std::string SaveZipIndex(const ByteSource& zip, const ZipImages& images);

}  // namespace infeed
