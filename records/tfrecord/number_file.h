#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/bytes/byte_source.h"

namespace infeed {

// A side file with a number for each record of a shard, and the version of the
// shard. docs/formats.md has the format.
struct NumberFile {
  std::int64_t shard_size = 0;
  std::int64_t shard_version = 0;  // ByteSource::version()
  std::vector<std::int64_t> numbers;

  [[nodiscard]] bool IsOf(const ByteSource& shard) const {
    return shard_size == shard.size() && shard_version == shard.version();
  }
};

// Reads a file; path may be a URL. magic: the eight bytes that it must begin
// with. nullopt when it cannot be read or is damaged; it then counts as absent,
// as it can be made again.
[[nodiscard]] std::optional<NumberFile> ReadNumberFile(const std::string& path,
                                                       std::string_view magic);

// Serializes a file. Requires: magic has eight bytes.
[[nodiscard]] std::string NumberFileText(
    const ByteSource& shard, std::string_view magic,
    const std::vector<std::int64_t>& numbers);

}  // namespace infeed
