#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/bytes/byte_source.h"

namespace infeed {

// A side file with a number for each record of a shard, and of which state of
// the shard it is. docs/formats.md has the format.
struct NumberFile {
  std::int64_t shard_size = 0;
  std::int64_t shard_version = 0;  // ByteSource::version()
  std::vector<std::int64_t> numbers;

  [[nodiscard]] bool IsOf(const ByteSource& shard) const {
    return shard_size == shard.size() && shard_version == shard.version();
  }
};

// Reads one; path may be a URL. magic: the eight bytes that such a file begins
// with. nullopt when it cannot be read or is damaged: it can be made again, so
// that is as good as none.
[[nodiscard]] std::optional<NumberFile> ReadNumberFile(const std::string& path,
                                                       std::string_view magic);

// The bytes of one. Requires: magic has eight.
[[nodiscard]] std::string NumberFileText(
    const ByteSource& shard, std::string_view magic,
    const std::vector<std::int64_t>& numbers);

}  // namespace infeed
