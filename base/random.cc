#include "base/random.h"

#include "base/error.h"

namespace infeed {
namespace {

// The multipliers and the key increments of the paper's table 2.
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kKeyStep0 = 0x9E3779B9;
constexpr std::uint32_t kKeyStep1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr std::uint32_t kMaxBlock = 1U << 24;

constexpr std::uint32_t Low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

constexpr std::uint32_t High(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 2> key,
                                        std::array<std::uint32_t, 4> counter) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {High(product1) ^ counter[1] ^ key[0], Low(product1),
               High(product0) ^ counter[3] ^ key[1], Low(product0)};
    key[0] += kKeyStep0;
    key[1] += kKeyStep1;
  }
  return counter;
}

// Loops over the lanes, which compilers turn into vector code.
void Philox4x32(std::array<std::uint32_t, 2> key, PhiloxLanes& counters) {
  auto& [c0, c1, c2, c3] = counters;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kPhiloxLanes; ++i) {
      const std::uint64_t product0 = std::uint64_t{kMultiplier0} * c0[i];
      const std::uint64_t product1 = std::uint64_t{kMultiplier1} * c2[i];
      c0[i] = High(product1) ^ c1[i] ^ key[0];
      c1[i] = Low(product1);
      c2[i] = High(product0) ^ c3[i] ^ key[1];
      c3[i] = Low(product0);
    }
    key[0] += kKeyStep0;
    key[1] += kKeyStep1;
  }
}

SampleRandom::SampleRandom(const SampleKey& key, RandomStream stream,
                           std::uint32_t first_block)
    : key_{Low(key.seed), High(key.seed)},
      counter_{first_block | static_cast<std::uint32_t>(stream) << 24,
               key.epoch, Low(key.position), High(key.position)} {
  Check(first_block < kMaxBlock, "the block must not reach into the stream");
}

std::uint32_t SampleRandom::Word() {
  if (used_ == words_.size()) {
    words_ = Philox4x32(key_, counter_);
    ++counter_[0];
    used_ = 0;
  }
  return words_[used_++];
}

std::uint32_t SampleRandom::Below(std::uint32_t n) {
  Check(n > 0, "there is no integer below 0");
  return High(std::uint64_t{Word()} * n);
}

float SampleRandom::Real() {
  return static_cast<float>(Word() >> 8) * 0x1p-24F;
}

}  // namespace infeed
