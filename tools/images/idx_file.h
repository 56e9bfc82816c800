#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "records/bytes/byte_source.h"

namespace infeed {

// An array of bytes in MNIST's IDX format.
struct IdxFile {
  std::shared_ptr<const ByteSource> bytes;  // unpacked
  std::vector<std::int64_t> sizes;          // of each dimension, all > 0
  std::int64_t first = 0;                   // offset of the first value
};

// Reads the header of an IDX file with a given number of dimensions. A gzip
// file, recognized by content, is decompressed into memory. Throws IoError, and
// DataError when the file is not such a file or has more or fewer bytes than
// its header requires; this is checked before memory is allocated.
[[nodiscard]] IdxFile OpenIdx(std::shared_ptr<const ByteSource> source,
                              int dimensions);

}  // namespace infeed
