#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace infeed {

// The compression of a whole file: TFRecordOptions "", "GZIP" and "ZLIB".
// Record offsets refer to the unpacked bytes. Index files store these numbers.
enum class Compression { kNone = 0, kGzip = 1, kZlib = 2 };

// "none", "gzip" or "zlib".
[[nodiscard]] std::string_view CompressionName(Compression compression);

// Detects compression by a file's first bytes (12 are enough), never by its
// name. A frame header with a correct checksum means none, whatever else it
// looks like. Unknown bytes count as none, so that the reader reports the
// error.
[[nodiscard]] Compression DetectCompression(std::span<const std::byte> start);

}  // namespace infeed
