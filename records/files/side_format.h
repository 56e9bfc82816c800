#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "records/bytes/byte_source.h"
#include "records/bytes/cache_folder.h"
#include "records/files/side_file.h"

// The one format of all side files: a payload, whose form is that of the file's
// kind, and a trailer with the version of the source. docs/formats.md has both.
// A kind is named by its magic of eight bytes.
namespace infeed {

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
// Throws IoError.
std::string SaveSideFile(const ByteSource& source, std::string_view ending,
                         std::string_view magic, std::string_view payload);

// Looks for a side file at SidePaths(), and returns the first value that decode
// makes of a file for this version of the source: an optional of
// decode(SideFile).
template <typename Decode>
auto FindSideFile(const ByteSource& source, std::string_view ending,
                  std::string_view magic, const Decode& decode)
    -> decltype(decode(SideFile())) {
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
