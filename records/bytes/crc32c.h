#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// CRC-32C (Castagnoli): the checksum of TFRecord frames, of index files and of
// shards in dataset.json.
namespace infeed {

// Returns the checksum of A followed by `bytes`, where crc is the checksum of A
// (0 if A is empty).
[[nodiscard]] std::uint32_t ExtendCrc32c(std::uint32_t crc,
                                         std::span<const std::byte> bytes);

[[nodiscard]] inline std::uint32_t Crc32c(std::span<const std::byte> bytes) {
  return ExtendCrc32c(0, bytes);
}

// Returns the checksum of A followed by B from the checksums of A and B and B's
// length. Takes half a microsecond for any length.
[[nodiscard]] std::uint32_t CombineCrc32c(std::uint32_t first,
                                          std::uint32_t second,
                                          std::uint64_t second_bytes);

// TFRecord stores checksums masked, since the CRC of bytes that contain their
// own CRC is weak: rotated right by 15 bits, plus a constant.
inline constexpr std::uint32_t kCrcMaskDelta = 0xA282EAD8;

[[nodiscard]] constexpr std::uint32_t MaskCrc(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + kCrcMaskDelta;
}

[[nodiscard]] constexpr std::uint32_t UnmaskCrc(std::uint32_t masked) {
  const std::uint32_t rotated = masked - kCrcMaskDelta;
  return rotated >> 17 | rotated << 15;
}

// The implementations behind ExtendCrc32c(), which picks the fastest for the
// length and the CPU. Public for tests and benchmarks.
[[nodiscard]] std::uint32_t ExtendCrc32cPortable(
    std::uint32_t crc, std::span<const std::byte> bytes);

// Whether the CPU has a CRC-32C instruction.
[[nodiscard]] bool HasCrc32cInstruction();

// By ISA-L, which processes long inputs at memory speed: several streams at
// once, with carry-less multiplication if the CPU has it.
[[nodiscard]] std::uint32_t ExtendCrc32cIsal(std::uint32_t crc,
                                             std::span<const std::byte> bytes);

// Requires: HasCrc32cInstruction().
[[nodiscard]] std::uint32_t ExtendCrc32cHardware(
    std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace infeed
