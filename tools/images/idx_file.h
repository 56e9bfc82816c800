#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"

namespace infeed {

// An array of bytes in MNIST's IDX format.
struct IdxFile {
  std::shared_ptr<const ByteSource> bytes;  // unpacked
  std::vector<std::int64_t> sizes;          // of each dimension, all above 0
  std::int64_t first = 0;                   // offset of the first value
};

// Reads the header of an IDX file with so many dimensions. One that is packed
// by gzip, which its content tells, is unpacked into memory. Throws IoError,
// and DataError when it is no such file or has more or fewer bytes than its
// header says; that is known before memory is asked for.
[[nodiscard]] IdxFile OpenIdx(std::shared_ptr<const ByteSource> source,
                              int dimensions);

}  // namespace infeed
