#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "preprocess/augment/options.h"

// torchvision's ColorJitter on 8-bit levels: its functions for tensors, in
// single precision, with the result of each clipped and truncated.
namespace infeed {

enum class JitterKind : std::uint8_t {
  kBrightness,
  kContrast,
  kSaturation,
  kHue
};

struct Jitter {
  std::array<JitterKind, 4> order;  // each kind once
  // By kind. 1 changes nothing for the first three kinds, 0 for hue.
  std::array<float, 4> factors;

  [[nodiscard]] bool changes(JitterKind kind) const {
    return factors[static_cast<std::size_t>(kind)] !=
           (kind == JitterKind::kHue ? 0.0F : 1.0F);
  }
};

// Makes seven draws: Below(4), Below(3), Below(2) shuffle the order from its
// end; then a Real() for each factor by kind, enabled or not.
[[nodiscard]] Jitter DrawJitter(const AugmentOptions& options,
                                RandomSource& random);

void ApplyJitter(const Jitter& jitter, std::span<std::uint32_t> pixels);

// A factor is rounded to single precision only after the other image's weight
// is taken from it, as torchvision does.

// Multiplies the levels by factor.
void JitterBrightness(double factor, std::span<std::uint32_t> pixels);
// Blends from the mean of the gray image. Requires: pixels are not empty.
void JitterContrast(double factor, std::span<std::uint32_t> pixels);
// Blends from the gray image.
void JitterSaturation(double factor, std::span<std::uint32_t> pixels);
// Turns the hue by a fraction of the circle, -0.5 to 0.5; 0 changes nothing.
// Within one level of torchvision's result, which rounds in converting to HSV
// and back.
void JitterHue(double turn, std::span<std::uint32_t> pixels);

}  // namespace infeed
