#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "records/byte_source.h"

namespace infeed {

// A raw file, or the object that a URL names.
struct RawFile {
  std::shared_ptr<const ByteSource> bytes;
  std::int64_t version = 0;  // as in RawPart
};

// Opens it. An object of up to 256 MiB is fetched whole: its images are read
// one by one, in any order. Throws IoError.
[[nodiscard]] RawFile OpenRaw(const std::string& path);

// Exactly so many bytes from offset on. Throws IoError.
[[nodiscard]] std::vector<std::byte> ReadBytes(const ByteSource& source,
                                               std::int64_t offset,
                                               std::int64_t count);

}  // namespace infeed
