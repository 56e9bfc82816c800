#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// One file of a zip archive, read from its extent: the bytes from its local
// header up to the next one, as ReadZipDirectory() gives them.
namespace infeed {

struct ZipFile {
  std::string_view name;  // a view of the extent
  // A view of the extent if the file is stored, of the buffer if it was
  // inflated.
  std::span<const std::byte> bytes;
  std::uint32_t crc32 = 0;
};

// Returns a file of an archive, stored or deflated, after verifying its sizes
// and its CRC-32. `buffer` grows as needed and may be used for many files; it
// does not hold the extent. Bytes behind the file in its extent are ignored.
//
// Throws DataError, without origin, when the file is damaged, encrypted, packed
// by another method or longer than max_bytes, and when no local header begins
// the extent. Never allocates more than max_bytes, nor more than the packed
// bytes can inflate to. Requires: max_bytes >= 0.
[[nodiscard]] ZipFile ReadZipEntry(std::span<const std::byte> extent,
                                   std::int64_t max_bytes,
                                   std::vector<std::byte>& buffer);

}  // namespace infeed
