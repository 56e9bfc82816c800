#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace infeed {

// Reads a sorted table in LevelDB's format, such as the index file of a
// TensorFlow checkpoint:
//
//   data blocks, a metaindex block, an index block    each + type byte + CRC
//   footer of 48 bytes    handles of the last two, zeros, magic number
//
// A block has entries, each key without the prefix that it shares with the key
// before, and then the offsets of the entries with full keys. The checksum of
// every block is verified. Throws DataError, with the offset, for anything
// else: compressed blocks, keys out of order, keys of over 4 KiB or of 64 MiB
// together.
[[nodiscard]] std::map<std::string, std::string> ParseSortedTable(
    std::span<const std::byte> file);

}  // namespace infeed
