#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace infeed {

// Draws as a TensorFlow operation with two seeds does: Philox keyed by the
// first, the second in the counter's upper half; reals from 23 mantissa bits,
// integers by rejection and remainder.
class TensorFlowRandom final : public RandomSource {
 public:
  TensorFlowRandom(std::uint64_t seed, std::uint64_t seed2)
      : key_{Low(seed), Low(seed >> 32)},
        counter_{0, 0, Low(seed2), Low(seed2 >> 32)} {}

  std::uint32_t Below(std::uint32_t n) override {
    if (std::has_single_bit(n)) {
      return Word() & (n - 1);
    }
    const std::uint32_t rejected = UINT32_MAX % n + 1;
    std::uint32_t word = Word();
    while (word < rejected) {
      word = Word();
    }
    return word % n;
  }

  float Real() override {
    return std::bit_cast<float>((Word() & 0x7FFFFF) | 0x3F800000) - 1.0F;
  }

 private:
  static std::uint32_t Low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
  }

  std::uint32_t Word() {
    if (used_ == words_.size()) {
      words_ = Philox4x32(key_, counter_);
      ++counter_[0];
      used_ = 0;
    }
    return words_[used_++];
  }

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace infeed
