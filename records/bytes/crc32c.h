#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// CRC-32C (Castagnoli): the checksum of TFRecord frames, of index files and of
// shards in dataset.json.
namespace infeed {

// Returns the checksum of A followed by bytes, where crc is that of A. The
// checksum of nothing is 0.
[[nodiscard]] std::uint32_t ExtendCrc32c(std::uint32_t crc,
                                         std::span<const std::byte> bytes);

[[nodiscard]] inline std::uint32_t Crc32c(std::span<const std::byte> bytes) {
  return ExtendCrc32c(0, bytes);
}

// Returns the checksum of A followed by B from those of A and B, and B's
// length: in half a microsecond, whatever the lengths.
[[nodiscard]] std::uint32_t CombineCrc32c(std::uint32_t first,
                                          std::uint32_t second,
                                          std::uint64_t second_bytes);

// TFRecord stores checksums masked, so that a checksum over bytes that hold a
// checksum stays a good one: rotated right by 15 bits, plus a constant.
inline constexpr std::uint32_t kCrcMaskDelta = 0xA282EAD8;

[[nodiscard]] constexpr std::uint32_t MaskCrc(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + kCrcMaskDelta;
}

[[nodiscard]] constexpr std::uint32_t UnmaskCrc(std::uint32_t masked) {
  const std::uint32_t rotated = masked - kCrcMaskDelta;
  return rotated >> 17 | rotated << 15;
}

// The implementations behind ExtendCrc32c(), which takes the fastest for the
// number of bytes and the processor. They are here for tests and benchmarks.
[[nodiscard]] std::uint32_t ExtendCrc32cPortable(
    std::uint32_t crc, std::span<const std::byte> bytes);

// Whether the processor has CRC-32C as an instruction.
[[nodiscard]] bool HasCrc32cInstruction();

// ISA-L's, which reads long inputs at the speed of memory: several streams at
// once, by carry-less multiplication where the processor has it.
[[nodiscard]] std::uint32_t ExtendCrc32cIsal(std::uint32_t crc,
                                             std::span<const std::byte> bytes);

// Requires: HasCrc32cInstruction().
[[nodiscard]] std::uint32_t ExtendCrc32cHardware(
    std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace infeed
