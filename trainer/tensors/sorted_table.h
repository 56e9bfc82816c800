#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace infeed {

// Reads a sorted table as LevelDB lays it out, which is the index file of a
// TensorFlow checkpoint:
//
//   data blocks, a metaindex block, an index block    each + type byte + CRC
//   footer of 48 bytes    handles of the last two, zeros, magic number
//
// A block is entries whose keys leave out what they share with the one before,
// then the places where they begin anew. The checksum of every block is
// verified. Throws DataError, with the place, for anything else: blocks that
// are compressed, keys out of order, keys of over 4 KiB or 64 MiB together.
[[nodiscard]] std::map<std::string, std::string> ParseSortedTable(
    std::span<const std::byte> file);

}  // namespace infeed
