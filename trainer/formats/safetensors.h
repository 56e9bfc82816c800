#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trainer/formats/host_tensor.h"

// The safetensors format, as other programs read and write it:
//
//   8 bytes  length H of the header, little-endian
//   H bytes  JSON: {"name": {"dtype": "F32", "shape": [2, 3],
//            "data_offsets": [begin, end]}, ...}, and spaces
//   then the tensors' bytes; offsets count from here and leave no gap
//
// F32 and I64 are written; F16, BF16 and F64 are read too, into float32.
namespace infeed {

// Size and checksum of a finished file, to verify it later.
struct FileSum {
  std::int64_t size = 0;
  std::uint32_t crc32c = 0;
};

// Writes the complete file or none. The same tensors give the same bytes:
// tensors of larger elements come first, so that each is aligned, then by name.
FileSum WriteSafetensors(const std::string& path, const TensorMap& tensors);

// Throws DataError for a header that is not valid, too long (over 100 MB),
// has other types or a shape that does not fit its bytes, and when the offsets
// do not cover the data exactly. Takes no more than twice the file's memory.
[[nodiscard]] TensorMap ParseSafetensors(std::span<const std::byte> file);

// Reads a file of at most max_bytes. Throws DataError, naming the file, as
// above; IoError when it cannot be read.
[[nodiscard]] TensorMap ReadSafetensors(
    const std::string& path, std::int64_t max_bytes = std::int64_t{16} << 30);

}  // namespace infeed
