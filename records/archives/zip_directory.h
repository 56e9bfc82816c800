#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records/archives/archive_images.h"
#include "records/bytes/byte_source.h"

// The list of the files in a zip archive. zip_entry.h reads one of them.
//
//   [other bytes] | local header, data | ... | directory | end record
//
// Archives of more than 4 GiB or 65,535 entries (zip64), bytes before the
// first entry (self-extracting archives) and comments are supported; archives
// split over several disks are not.
namespace infeed {

inline constexpr std::int64_t kMaxZipEntries = 100'000'000;

// Whether a file that begins with these bytes can be a zip archive. Archives
// with other bytes before the first entry are not detected.
[[nodiscard]] bool IsZip(std::span<const std::byte> first_bytes);

// Reads the directory of an archive: its files, without folders, sorted by
// offset. The extent of one is up to the next local header or the directory.
// Every entry lies in the file and overlaps no other, and no two have the same
// name. The sizes of the entries are claims: ReadZipEntry() checks them. Throws
// IoError, and DataError with path and offset for a file that is no zip, cut
// short or inconsistent.
[[nodiscard]] std::vector<ArchiveFile> ReadZipDirectory(const ByteSource& zip);

// The zip64 part of a header's extra field: the numbers that do not fit into
// the header's 32-bit fields, in the order of these fields.
class Zip64Extra {
 public:
  // A view of a header's whole extra field.
  explicit Zip64Extra(std::span<const std::byte> extra);

  // Returns a 32-bit field's value, which is the next number here if the field
  // is 0xFFFFFFFF. Throws DataError, without origin, if there is none.
  [[nodiscard]] std::uint64_t Widen(std::uint64_t field);

 private:
  std::span<const std::byte> numbers_;
};

}  // namespace infeed
