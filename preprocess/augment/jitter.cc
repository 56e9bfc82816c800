#include "preprocess/augment/jitter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "preprocess/augment/loops.h"
#include "preprocess/augment/pixels.h"

namespace infeed {
namespace {

// The other image's weight, 1 - factor, rounded once.
float OtherPart(double factor) { return static_cast<float>(1.0 - factor); }

void MixWithConstant(double factor, float constant,
                     std::span<std::uint32_t> pixels) {
  const auto own = static_cast<float>(factor);
  const float other = OtherPart(factor) * constant;
  ApplyTable(MakeLevelTable([&](int level) {
               return TruncatedLevel(own * static_cast<float>(level) + other);
             }),
             pixels);
}

float DrawFactor(float reach, RandomSource& random) {
  const float low = std::max(1.0F - reach, 0.0F);
  return low + random.Real() * (1.0F + reach - low);
}

}  // namespace

Jitter DrawJitter(const AugmentOptions& options, RandomSource& random) {
  Jitter jitter{.order = {JitterKind::kBrightness, JitterKind::kContrast,
                          JitterKind::kSaturation, JitterKind::kHue},
                .factors = {}};
  for (std::uint32_t last = 3; last > 0; --last) {
    std::swap(jitter.order[last], jitter.order[random.Below(last + 1)]);
  }
  // A disabled factor is 1, a disabled hue turn 0.
  jitter.factors[0] = DrawFactor(options.brightness, random);
  jitter.factors[1] = DrawFactor(options.contrast, random);
  jitter.factors[2] = DrawFactor(options.saturation, random);
  jitter.factors[3] = options.hue * (2.0F * random.Real() - 1.0F);
  return jitter;
}

void ApplyJitter(const Jitter& jitter, std::span<std::uint32_t> pixels) {
  for (const JitterKind kind : jitter.order) {
    if (!jitter.changes(kind)) {
      continue;
    }
    const float factor = jitter.factors[static_cast<std::size_t>(kind)];
    switch (kind) {
      case JitterKind::kBrightness:
        JitterBrightness(factor, pixels);
        break;
      case JitterKind::kContrast:
        JitterContrast(factor, pixels);
        break;
      case JitterKind::kSaturation:
        JitterSaturation(factor, pixels);
        break;
      case JitterKind::kHue:
        JitterHue(factor, pixels);
        break;
    }
  }
}

void JitterBrightness(double factor, std::span<std::uint32_t> pixels) {
  MixWithConstant(factor, 0, pixels);
}

void JitterContrast(double factor, std::span<std::uint32_t> pixels) {
  const double mean = static_cast<double>(SumOfGray(pixels)) /
                      static_cast<double>(pixels.size());
  MixWithConstant(factor, static_cast<float>(mean), pixels);
}

void JitterSaturation(double factor, std::span<std::uint32_t> pixels) {
  MixWithGray(static_cast<float>(factor), OtherPart(factor), pixels);
}

void JitterHue(double turn, std::span<std::uint32_t> pixels) {
  TurnHue(6.0F * static_cast<float>(turn), pixels);
}

}  // namespace infeed
