#include "preprocess/pixels/pixel_hash.h"

#include <array>
#include <cstring>

#include "base/number_bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/pixels/pixel_hash.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// In the manner of XXH3 for long inputs: eight sums of 64 bits over stripes of
// eight words. A word is combined with a key of its place in its block, and
// its halves are multiplied. After each block the sums are mixed, so that the
// order of blocks counts.

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSums = 8;
constexpr std::size_t kBlockWords = 16 * kSums;
constexpr std::size_t kBlockBytes = kBlockWords * sizeof(std::uint64_t);
constexpr std::uint64_t kPrime = 0x9E3779B1;

using HashSums = std::array<std::uint64_t, kSums>;

// For each word of a block, then for each sum at the block's end.
constexpr std::array<std::uint64_t, kBlockWords + kSums> kKeys = [] {
  std::array<std::uint64_t, kBlockWords + kSums> keys = {};
  HashChain chain;
  for (std::uint64_t& key : keys) {
    key = chain.Add(0).hash();
  }
  return keys;
}();

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void AddBlock(const std::byte* block, HashSums& sums) {
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  for (std::size_t i = 0; i < kSums; ++i) {
    std::uint64_t sum = sums[i];
    for (std::size_t at = i; at < kBlockWords; at += kSums) {
      const auto word =
          LoadLittleEndian<std::uint64_t>(block + at * sizeof(std::uint64_t));
      const std::uint64_t keyed = word ^ kKeys[at];
      sum += (keyed & kLow) * (keyed >> 32) + word;
    }
    sums[i] = (sum ^ sum >> 47 ^ kKeys[kBlockWords + i]) * kPrime;
  }
}

#else

HWY_INLINE void AddBlock(const std::byte* block, HashSums& sums) {
  const hn::CappedTag<std::uint64_t, kSums> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(block);
  // The product of the low halves of words.
  const auto multiply = [&](auto a, auto b) {
    return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
  };
  for (std::size_t i = 0; i < kSums; i += hn::Lanes(d)) {
    // Of this block alone, so that it need not wait for the block before.
    auto sum = hn::Zero(d);
    for (std::size_t at = i; at < kBlockWords; at += kSums) {
      const auto word =
          hn::BitCast(d, hn::LoadU(d8, bytes + at * sizeof(std::uint64_t)));
      const auto keyed = hn::Xor(word, hn::LoadU(d, &kKeys[at]));
      const auto product = multiply(keyed, hn::ShiftRight<32>(keyed));
      sum = hn::Add(sum, hn::Add(product, word));
    }
    sum = hn::Add(sum, hn::LoadU(d, &sums[i]));
    sum = hn::Xor(hn::Xor(sum, hn::ShiftRight<47>(sum)),
                  hn::LoadU(d, &kKeys[kBlockWords + i]));
    const auto prime = hn::Set(d, kPrime);
    const auto high = multiply(hn::ShiftRight<32>(sum), prime);
    sum = hn::Add(multiply(sum, prime), hn::ShiftLeft<32>(high));
    hn::StoreU(sum, d, &sums[i]);
  }
}

#endif

std::uint64_t Hash(const std::byte* bytes, std::size_t size) {
  HashSums sums = {};
  std::size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    AddBlock(bytes + at, sums);
  }
  if (at < size) {
    std::array<std::byte, kBlockBytes> rest = {};
    std::memcpy(rest.data(), bytes + at, size - at);
    AddBlock(rest.data(), sums);
  }
  HashChain hash(size);
  for (const std::uint64_t sum : sums) {
    hash.Add(sum);
  }
  return hash.hash();
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(Hash);

std::uint64_t HashPixels(std::span<const std::byte> bytes) {
  return HWY_DYNAMIC_DISPATCH(Hash)(bytes.data(), bytes.size());
}

}  // namespace infeed
#endif  // HWY_ONCE
