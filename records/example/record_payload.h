#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "records/bytes/mapped_file.h"
#include "records/tfrecord/format.h"

namespace infeed {

// A record's payload as it was read, borrowed.
struct RecordPayload {
  std::span<const std::byte> bytes;
  // The payload's checksum if it was verified: checksums of parts can then be
  // computed from it without reading the bytes.
  std::optional<std::uint32_t> crc32c = {};
  // The checksum in the record's frame, until it is verified
  // (RecordStore::Verify()).
  std::optional<std::uint32_t> unverified_crc32c = {};
  // The checksum in the record's frame, verified or not; of a file in a zip its
  // CRC-32. nullopt: there is none, as of image files and tars.
  std::optional<std::uint32_t> stored_crc = {};
  // Where the bytes lie if they were not read but mapped; else null.
  const MappedFile* mapped = nullptr;

  // Whether the bytes have been there until now: a mapped file can lose them
  // while they are used. Read the record again if not.
  [[nodiscard]] bool IsWhole() const {
    return mapped == nullptr ||
           mapped->IsWhole({bytes.data(), bytes.size() + kFrameFooterBytes});
  }
};

}  // namespace infeed
