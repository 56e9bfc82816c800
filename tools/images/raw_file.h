#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"

namespace infeed {

// A raw file, or the object that a URL names.
struct RawFile {
  std::shared_ptr<const ByteSource> bytes;
  std::int64_t version = 0;  // ByteSource::version() of the file
};

// Opens a raw file. An object of at most 256 MiB is fetched whole, as its
// images are read one by one, in any order. Throws IoError.
[[nodiscard]] RawFile OpenRawFile(const std::string& path);

// Returns a number of bytes from an offset on. Throws IoError when there are
// fewer.
[[nodiscard]] std::vector<std::byte> ReadBytes(const ByteSource& source,
                                               std::int64_t offset,
                                               std::int64_t count);

}  // namespace infeed
