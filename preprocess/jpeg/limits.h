#pragma once

#include <cstdint>

namespace infeed {

// Limits of a JPEG, checked before anything is allocated for it.
struct JpegLimits {
  std::int64_t max_pixels = 178956970;  // 2^29 / 3: half a gigabyte as RGB
  int max_scans = 100;                  // of a progressive image
  // Limit of libjpeg's own memory, for an image that it holds as a whole.
  std::int64_t max_memory_bytes = std::int64_t{1} << 30;

  friend bool operator==(const JpegLimits&, const JpegLimits&) = default;
};

// How libjpeg's warnings about scans, which mean damaged pixels, are handled.
// Warnings about the header (an unknown version, bytes between its segments)
// concern no pixel and are ignored.
enum class JpegWarnings {
  kErrors,     // a DataError
  kTolerated,  // the decode continues
};

}  // namespace infeed
