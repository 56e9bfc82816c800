#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

// Hashes of 64 bits for comparisons: the same on every machine, not secure
// against deliberate collisions.
namespace infeed {

// SplitMix64's last step: mixes all bits. One to one; 0 stays 0.
[[nodiscard]] constexpr std::uint64_t MixBits(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return bits ^ bits >> 31;
}

// MixBits() backwards.
[[nodiscard]] constexpr std::uint64_t UnmixBits(std::uint64_t bits) {
  bits = (bits ^ bits >> 31 ^ bits >> 62) * 0x319642B2D24D8EC3;
  bits = (bits ^ bits >> 27 ^ bits >> 54) * 0x96DE1B173F119089;
  return bits ^ bits >> 30 ^ bits >> 60;
}

// Hashes values in the order in which they are added.
class HashChain {
 public:
  constexpr explicit HashChain(std::uint64_t start = 0) : hash_(start) {}

  template <typename Value>
  requires std::integral<Value> || std::is_enum_v<Value>
  constexpr HashChain& Add(Value value) {
    // The sum moves a 0 away from MixBits()'s fixed point.
    hash_ = MixBits((hash_ ^ static_cast<std::uint64_t>(value)) + kGoldenRatio);
    return *this;
  }
  constexpr HashChain& Add(double value) {
    return Add(std::bit_cast<std::uint64_t>(value));
  }
  constexpr HashChain& Add(float value) {
    return Add(std::bit_cast<std::uint32_t>(value));
  }

  [[nodiscard]] constexpr std::uint64_t hash() const { return hash_; }

 private:
  static constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

  std::uint64_t hash_;
};

// The hash of bytes that come part by part. A part goes into the states at its
// place in a block: each 16 bytes are the key of a round of AES (FIPS 197),
// which turns one state into its next.
class PixelHash {
 public:
  static constexpr std::size_t kPartBytes = 64;
  static constexpr std::size_t kBlockBytes = 256;

  PixelHash();

  // Requires: all but the last bytes come in whole parts.
  void Add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t hash() const;

  // For who has parts in registers and adds them to the states himself: where
  // the next one belongs, and that so many bytes were added.
  [[nodiscard]] std::uint8_t* states() { return states_.data(); }
  [[nodiscard]] std::size_t place() const { return size_ % kBlockBytes; }
  void Skip(std::size_t bytes) { size_ += bytes; }

 private:
  alignas(kPartBytes) std::array<std::uint8_t, kBlockBytes> states_;
  std::size_t size_ = 0;
};

// The hash of an image's bytes, as fast as they come from the cache. Differs
// for bytes that are swapped or moved.
[[nodiscard]] std::uint64_t HashPixels(std::span<const std::byte> bytes);

}  // namespace infeed
