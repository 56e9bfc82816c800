#include "pipeline/order/keyed_permutation.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/order/permutation_lanes.h"

namespace infeed {
namespace {

constexpr int kMinRounds = 64;
constexpr int kRoundsPerBit = 6;
constexpr std::uint32_t kFirstKeyBlock = 2;

int RoundsFor(std::uint32_t size) {
  return std::max(kMinRounds,
                  kRoundsPerBit * static_cast<int>(std::bit_width(size - 1)));
}

// (key - x) mod size without a division, as both are below it.
std::uint32_t PartnerOf(std::uint32_t x, std::uint32_t size,
                        std::uint32_t round_key) {
  return round_key >= x ? round_key - x : round_key + (size - x);
}

// The random bits of one element, for a block of rounds at a time. Neighbouring
// rounds often need the same element, so the last block is cached.
class ElementBits {
 public:
  explicit ElementBits(const PermutationKey& key)
      : key_{static_cast<std::uint32_t>(key.seed),
             static_cast<std::uint32_t>(key.seed >> 32)},
        epoch_(key.epoch),
        domain_(key.domain) {}

  bool At(int round, std::uint32_t element) {
    const std::uint32_t block =
        static_cast<std::uint32_t>(round) / kBitsPerBlock;
    if (element != element_ || block != block_) {
      static_assert(static_cast<std::uint32_t>(RandomStream::kOrder) == 0);
      words_ = Philox4x32(key_, {block, epoch_, element, domain_});
      element_ = element;
      block_ = block;
    }
    const unsigned bit = static_cast<unsigned>(round) % kBitsPerBlock;
    return (words_[bit / 32] >> (bit % 32) & 1U) != 0;
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t epoch_;
  std::uint32_t domain_;
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t element_ = 0;
  std::uint32_t block_ = ~0U;  // none yet
};

// One round: its own inverse, as an element and its partner share a bit.
std::uint32_t Swapped(std::uint32_t x, std::uint32_t size,
                      std::uint32_t round_key, int round, ElementBits& bits) {
  const std::uint32_t partner = PartnerOf(x, size, round_key);
  return bits.At(round, std::max(x, partner)) ? partner : x;
}

}  // namespace

KeyedPermutation::KeyedPermutation(std::uint32_t size,
                                   const PermutationKey& key)
    : size_(size), key_(key) {
  Check(size > 0, "there is something to permute");
  rounds_ = RoundsFor(size);
  SampleRandom keys({.seed = key.seed,
                     .epoch = key.epoch,
                     .position = std::uint64_t{key.domain} << 32},
                    RandomStream::kOrder, kFirstKeyBlock);
  for (int round = 0; round < rounds_; ++round) {
    round_keys_[static_cast<std::size_t>(round)] = keys.Below(size);
  }
}

std::uint32_t KeyedPermutation::At(std::uint32_t position) const {
  Check(position < size_, "the position is in the permutation");
  ElementBits bits(key_);
  std::uint32_t x = position;
  for (int round = 0; round < rounds_; ++round) {
    x = Swapped(x, size_, round_keys_[static_cast<std::size_t>(round)], round,
                bits);
  }
  return x;
}

void KeyedPermutation::ToElements(std::span<std::uint32_t> positions) const {
  Check(positions.empty() || std::ranges::max(positions) < size_,
        "the position is in the permutation");
  SwapInLanes(
      {.size = size_,
       .philox_keys =
           PhiloxKeysOf({static_cast<std::uint32_t>(key_.seed),
                         static_cast<std::uint32_t>(key_.seed >> 32)}),
       .epoch = key_.epoch,
       .domain = key_.domain,
       .keys = std::span(round_keys_).first(static_cast<std::size_t>(rounds_))},
      positions);
}

std::uint32_t KeyedPermutation::PositionOf(std::uint32_t element) const {
  Check(element < size_, "the element is in the permutation");
  ElementBits bits(key_);
  std::uint32_t x = element;
  for (int round = rounds_ - 1; round >= 0; --round) {
    x = Swapped(x, size_, round_keys_[static_cast<std::size_t>(round)], round,
                bits);
  }
  return x;
}

}  // namespace infeed
