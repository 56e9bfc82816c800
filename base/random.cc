#include "base/random.h"

#include "base/error.h"

namespace infeed {
namespace {

// What a round adds to the key, of the paper's table 2.
constexpr std::array<std::uint32_t, 2> kKeySteps = {0x9E3779B9, 0xBB67AE85};
constexpr std::uint32_t kMaxBlock = 1U << 24;

constexpr std::uint32_t Low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

constexpr std::uint32_t High(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

std::uint32_t StreamOf(const SampleKey& key, RandomStream stream) {
  constexpr std::uint32_t kStreamsOfView = 16;
  return static_cast<std::uint32_t>(stream) + kStreamsOfView * key.view;
}

}  // namespace

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 2> key,
                                        std::array<std::uint32_t, 4> counter) {
  auto& [c0, c1, c2, c3] = counter;
  for (std::size_t round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kPhiloxMultipliers[0]} * c0;
    const std::uint64_t product1 = std::uint64_t{kPhiloxMultipliers[1]} * c2;
    c0 = High(product1) ^ c1 ^ key[0];
    c1 = Low(product1);
    c2 = High(product0) ^ c3 ^ key[1];
    c3 = Low(product0);
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return counter;
}

PhiloxKeys PhiloxKeysOf(std::array<std::uint32_t, 2> key) {
  PhiloxKeys keys{};
  for (std::array<std::uint32_t, 2>& of_round : keys) {
    of_round = key;
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return keys;
}

SampleRandom::SampleRandom(const SampleKey& key, RandomStream stream,
                           std::uint32_t first_block)
    : key_{Low(key.seed), High(key.seed)},
      counter_{first_block | StreamOf(key, stream) << 24, key.epoch,
               Low(key.position), High(key.position)} {
  Check(first_block < kMaxBlock, "the block must not reach into the stream");
  Check(key.view < kMaxViews, "the view has streams of its own");
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
