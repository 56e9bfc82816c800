#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "preprocess/augment/options.h"

// torchvision's ColorJitter on levels of 8 bits: its functions for tensors, in
// single precision, clipped and the fraction dropped after each of them.
namespace infeed {

enum class JitterKind : std::uint8_t {
  kBrightness,
  kContrast,
  kSaturation,
  kHue
};

struct Jitter {
  std::array<JitterKind, 4> order;  // each kind once
  // By kind. Of the first three 1 changes nothing, of hue 0.
  std::array<float, 4> factors;
};

// Takes seven draws: Below(4), Below(3), Below(2), by which the order is
// shuffled from its end, then a Real() for each factor by kind, be it on or
// not.
[[nodiscard]] Jitter DrawJitter(const AugmentOptions& options,
                                RandomSource& random);

void ApplyJitter(const Jitter& jitter, std::span<std::uint32_t> pixels);

// The levels times factor.
void JitterBrightness(float factor, std::span<std::uint32_t> pixels);
// Away from the mean of the gray image.
// Requires: pixels are not empty.
void JitterContrast(float factor, std::span<std::uint32_t> pixels);
// Away from the gray image.
void JitterSaturation(float factor, std::span<std::uint32_t> pixels);
// Turns the hue by a share of the circle, -0.5 to 0.5; by 0 nothing changes.
// Within one level of torchvision's, which rounds on its way to HSV and back.
void JitterHue(float turn, std::span<std::uint32_t> pixels);

}  // namespace infeed
