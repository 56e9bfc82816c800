#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace infeed {

// A record's payload as it was read, borrowed.
struct RecordPayload {
  std::span<const std::byte> bytes;
  // Its checksum, where that was verified: others then follow from it without
  // a look at the bytes.
  std::optional<std::uint32_t> crc32c = {};
};

}  // namespace infeed
