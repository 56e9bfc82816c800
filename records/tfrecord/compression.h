#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace infeed {

// How the frames of a file are wrapped as a whole: TFRecordOptions "", "GZIP"
// and "ZLIB". Offsets of records are those of the unpacked bytes. The numbers
// stand in index files.
enum class Compression { kNone = 0, kGzip = 1, kZlib = 2 };

// "none", "gzip" or "zlib".
[[nodiscard]] std::string_view CompressionName(Compression compression);

// Tells by a file's first bytes, never by its name; 12 are enough. A frame
// header whose checksum holds is none, whatever else it looks like; bytes that
// are nothing of all this count as none, so that the reader says what is wrong.
[[nodiscard]] Compression DetectCompression(std::span<const std::byte> start);

}  // namespace infeed
