#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/bytes/cache_folder.h"

// Side files: FOLDER/.infeed/NAME plus an extension for a shard, or in the
// user's cache if that folder is not writable. All have one format: a payload,
// whose form is that of the file's kind, and a trailer with the version of the
// source. docs/formats.md has both. A kind is named by its magic of eight
// bytes.
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

// The size and version of the source that a side file belongs to.
struct SideSource {
  std::int64_t size = 0;     // bytes
  std::int64_t version = 0;  // ByteSource::version()

  [[nodiscard]] static SideSource Of(const ByteSource& source) {
    return {.size = source.size(), .version = source.version()};
  }
  friend bool operator==(const SideSource&, const SideSource&) = default;
};

struct SideFile {
  SideSource source;
  std::string payload;
};

// Magic, version of the format, size and version of the source, checksum.
inline constexpr std::size_t kSideTrailerBytes = 8 + 3 * 8 + 4;

// Returns the bytes that follow the payload. checked: the payload, or as much
// of its end as the kind's readers check. Requires: magic has eight bytes.
[[nodiscard]] std::string SideTrailer(std::string_view magic,
                                      const SideSource& source,
                                      std::string_view checked);

// Parses the trailer behind what it checks; nullopt when it is damaged, of
// another kind or of another version of the format.
[[nodiscard]] std::optional<SideSource> ParseSideTrailer(
    std::string_view magic, std::string_view checked_and_trailer);

// Reads a file, or an object if path is a URL. nullopt when it cannot be read,
// is no regular file or is damaged; it then counts as absent, as it can be made
// again.
[[nodiscard]] std::optional<SideFile> ReadSideFile(const std::string& path,
                                                   std::string_view magic);

// Replaces a file, or an object, whole; makes its folder. Throws IoError.
void WriteSideFile(const std::string& path, std::string_view magic,
                   const SideSource& source, std::string_view payload);

// Writes the side file of a source to SidePathToWrite() and returns the path.
// Throws IoError, also if the source has no version.
std::string SaveSideFile(const ByteSource& source, std::string_view ending,
                         std::string_view magic, std::string_view payload);

// Looks for a side file at SidePaths(), and returns the first value that decode
// makes of a file for this version of the source: an optional of
// decode(SideFile).
template <typename Decode>
auto FindSideFile(const ByteSource& source, std::string_view ending,
                  std::string_view magic, const Decode& decode)
    -> decltype(decode(SideFile())) {
  if (source.version() == kNoVersion) {
    return std::nullopt;
  }
  for (const std::string& path : SidePaths(source.path(), ending)) {
    const std::optional<SideFile> file = ReadSideFile(path, magic);
    if (file && file->source == SideSource::Of(source)) {
      if (auto found = decode(*file)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

// Waits until no other thread or program changes the side file of this path.
[[nodiscard]] FolderLock LockSideFile(const std::string& path);

}  // namespace infeed
