#pragma once

#include <optional>
#include <string>

#include "records/archives/archive_images.h"
#include "records/archives/tar_samples.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"

// The index file of a zip, or of a tar with a tree of images: the images as
// found in its directory or headers, so that a million names are read once.
// docs/formats.md has the file's format.
namespace infeed {

struct ArchiveFileIndex {
  bool is_tar = false;  // else a zip
  Compression compression = Compression::kNone;
  ArchiveImages found = {};
};

// Reads an archive's index file, FOLDER/.infeed/NAME.index or the one in
// SideFolder(). nullopt when there is none, it is damaged, or it is for another
// size or modification time of the archive.
[[nodiscard]] std::optional<ArchiveFileIndex> FindArchiveIndex(
    const ByteSource& archive);

// Writes an archive's index file atomically, in SideFolder(), and returns its
// path. Throws IoError, also for more than kMostClasses.
std::string SaveArchiveIndex(const ByteSource& archive,
                             const ArchiveFileIndex& index);

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
