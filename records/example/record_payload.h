#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace infeed {

// A record's payload as it was read, borrowed.
struct RecordPayload {
  std::span<const std::byte> bytes;
  // The payload's checksum if it was verified: checksums of parts can then be
  // computed from it without reading the bytes.
  std::optional<std::uint32_t> crc32c = {};
};

}  // namespace infeed
