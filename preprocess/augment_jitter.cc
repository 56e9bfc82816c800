#include "preprocess/augment_jitter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "preprocess/augment_pixels.h"

namespace infeed {
namespace {

std::uint32_t GrayLevel(std::uint32_t pixel) {
  const float gray = 0.2989F * RealLevel(pixel, kRedShift) +
                     0.587F * RealLevel(pixel, kGreenShift) +
                     0.114F * RealLevel(pixel, kBlueShift);
  return static_cast<std::uint32_t>(static_cast<int>(gray));
}

// What is left for the other image, rounded once.
float OtherPart(float factor) {
  return static_cast<float>(1.0 - static_cast<double>(factor));
}

std::uint32_t Mixed(float level, float factor, float other) {
  return TruncatedLevel(factor * level + other);
}

void MixWithConstant(float factor, float constant,
                     std::span<std::uint32_t> pixels) {
  const float other = OtherPart(factor) * constant;
  ApplyTable(MakeLevelTable([&](int level) {
               return Mixed(static_cast<float>(level), factor, other);
             }),
             pixels);
}

// A channel after the turn: of a hue of `sextants` (0: red, 2: green, 4: blue)
// it has all where it is near the hue, and loses up to `chroma` away from it.
std::uint32_t HueLevel(float sextants, float highest, float chroma) {
  float place = sextants + 6.0F;  // Above 0, so that truncating rounds down.
  place -= 6.0F * static_cast<float>(static_cast<int>(place / 6.0F));
  const float away = std::min(place, 4.0F - place);
  const float loss = std::min(std::max(away, 0.0F), 1.0F);
  // Makes 256 equal parts of 0..1, as torchvision does on its way to bytes.
  constexpr float kParts = 255.999F / 255.0F;
  return TruncatedLevel((highest - chroma * loss) * kParts);
}

std::uint32_t HueTurned(std::uint32_t pixel, float turn_sextants) {
  const float red = RealLevel(pixel, kRedShift);
  const float green = RealLevel(pixel, kGreenShift);
  const float blue = RealLevel(pixel, kBlueShift);
  const float highest = std::max(red, std::max(green, blue));
  const float chroma = highest - std::min(red, std::min(green, blue));
  const float divisor = chroma > 0.0F ? chroma : 1.0F;
  const bool is_red = red == highest;
  const bool is_green = green == highest;
  const float ahead = is_red ? green : is_green ? blue : red;
  const float behind = is_red ? blue : is_green ? red : green;
  const float base = is_red ? 0.0F : is_green ? 2.0F : 4.0F;
  const float hue = base + (ahead - behind) / divisor + turn_sextants;
  return HueLevel(hue + 5.0F, highest, chroma) << kRedShift |
         HueLevel(hue + 3.0F, highest, chroma) << kGreenShift |
         HueLevel(hue + 1.0F, highest, chroma) << kBlueShift;
}

float DrawFactor(float reach, RandomSource& random) {
  const float low = std::max(1.0F - reach, 0.0F);
  return low + random.Real() * (1.0F + reach - low);
}

}  // namespace

bool HasJitter(const AugmentOptions& options) {
  return options.brightness > 0 || options.contrast > 0 ||
         options.saturation > 0 || options.hue > 0;
}

Jitter DrawJitter(const AugmentOptions& options, RandomSource& random) {
  Jitter jitter{.order = {JitterKind::kBrightness, JitterKind::kContrast,
                          JitterKind::kSaturation, JitterKind::kHue},
                .factors = {}};
  for (std::uint32_t last = 3; last > 0; --last) {
    std::swap(jitter.order[last], jitter.order[random.Below(last + 1)]);
  }
  // Where nothing may change a factor, it is 1, and the turn of the hue 0.
  jitter.factors[0] = DrawFactor(options.brightness, random);
  jitter.factors[1] = DrawFactor(options.contrast, random);
  jitter.factors[2] = DrawFactor(options.saturation, random);
  jitter.factors[3] = options.hue * (2.0F * random.Real() - 1.0F);
  return jitter;
}

void ApplyJitter(const Jitter& jitter, std::span<std::uint32_t> pixels) {
  for (const JitterKind kind : jitter.order) {
    const float factor = jitter.factors[static_cast<std::size_t>(kind)];
    if (factor == (kind == JitterKind::kHue ? 0.0F : 1.0F)) {
      continue;
    }
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

void JitterBrightness(float factor, std::span<std::uint32_t> pixels) {
  MixWithConstant(factor, 0, pixels);
}

void JitterContrast(float factor, std::span<std::uint32_t> pixels) {
  std::uint64_t sum = 0;
  for (const std::uint32_t pixel : pixels) {
    sum += GrayLevel(pixel);
  }
  const double mean =
      static_cast<double>(sum) / static_cast<double>(pixels.size());
  MixWithConstant(factor, static_cast<float>(mean), pixels);
}

void JitterSaturation(float factor, std::span<std::uint32_t> pixels) {
  const float part = OtherPart(factor);
  for (std::uint32_t& pixel : pixels) {
    const float other = part * static_cast<float>(GrayLevel(pixel));
    std::uint32_t mixed = 0;
    for (const int shift : kChannelShifts) {
      mixed |= Mixed(RealLevel(pixel, shift), factor, other) << shift;
    }
    pixel = mixed;
  }
}

void JitterHue(float turn, std::span<std::uint32_t> pixels) {
  const float sextants = 6.0F * turn;
  for (std::uint32_t& pixel : pixels) {
    pixel = HueTurned(pixel, sextants);
  }
}

}  // namespace infeed
