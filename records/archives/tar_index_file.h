#pragma once

#include <optional>
#include <string>

#include "records/archives/tar_samples.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"

// The index file of a tar: its samples as found by an earlier pass over its
// members. docs/formats.md has the file's format.
namespace infeed {

struct TarFileIndex {
  Compression compression = Compression::kNone;
  TarIndex samples = {};
};

// Reads a tar's index file, FOLDER/.infeed/NAME.index or the one in
// SideFolder(). nullopt when there is none, it is damaged, or it is for another
// size or modification time of the tar.
[[nodiscard]] std::optional<TarFileIndex> FindTarIndex(const ByteSource& tar);

// Writes a tar's index file atomically, in SideFolder(), and returns its path.
// Throws IoError.
std::string SaveTarIndex(const ByteSource& tar, const TarFileIndex& index);

}  // namespace infeed
