// Compiled once for each SIMD target, by loops.cc.

#if defined(INFEED_PREPROCESS_AUGMENT_LOOPS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_AUGMENT_LOOPS_INL_H_
#undef INFEED_PREPROCESS_AUGMENT_LOOPS_INL_H_
#else
#define INFEED_PREPROCESS_AUGMENT_LOOPS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "preprocess/augment/loops.h"
#include "preprocess/augment/pixels.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Minimum and maximum by value: these vectorise, unlike std::min() and
// std::max(), which work by reference.
HWY_INLINE float Lesser(float a, float b) { return a < b ? a : b; }
HWY_INLINE float Greater(float a, float b) { return a > b ? a : b; }

HWY_INLINE float Blended(float low, float high, float factor) {
  return low + factor * (high - low);
}

// TensorFlow's conversion: scales to 0..1, weights the channels, and scales
// back with the factor 255.5, whose half rounds.
HWY_INLINE float BlendGray(std::uint32_t pixel) {
  constexpr float kUnit = 1.0F / 255.0F;
  const float gray = RealLevel(pixel, kRedShift) * kUnit * 0.2989F +
                     RealLevel(pixel, kGreenShift) * kUnit * 0.5870F +
                     RealLevel(pixel, kBlueShift) * kUnit * 0.1140F;
  return static_cast<float>(static_cast<int>(gray * 255.5F));
}

HWY_NOINLINE void BlendFromGray(float factor, std::span<std::uint32_t> pixels) {
  for (std::uint32_t& pixel : pixels) {
    const float gray = BlendGray(pixel);
    std::uint32_t blended = 0;
    for (const int shift : kChannelShifts) {
      blended |= TruncatedLevel(Blended(gray, RealLevel(pixel, shift), factor))
                 << shift;
    }
    pixel = blended;
  }
}

HWY_NOINLINE void WeighRow(std::span<const std::uint8_t> row, float* weighed) {
  constexpr float kOuterWeight = 1.0F / 13.0F;
  for (std::size_t i = 0; i < row.size(); ++i) {
    weighed[i] = static_cast<float>(row[i]) * kOuterWeight;
  }
}

HWY_NOINLINE void SharpenRow(float factor, const float* above,
                             const float* beside, const float* below,
                             std::span<std::uint8_t> row) {
  constexpr std::size_t kPixel = 4;
  constexpr float kInnerWeight = 5.0F / 13.0F;
  for (std::size_t i = kPixel; i < row.size() - kPixel; ++i) {
    const float level = static_cast<float>(row[i]);
    float sum = above[i - kPixel] + above[i];
    sum += above[i + kPixel];
    sum += beside[i - kPixel];
    sum += level * kInnerWeight;
    sum += beside[i + kPixel];
    sum += below[i - kPixel];
    sum += below[i];
    sum += below[i + kPixel];
    // Rounding errors cannot bring it near 256.
    const float smooth = static_cast<float>(static_cast<int>(sum));
    row[i] = static_cast<std::uint8_t>(
        TruncatedLevel(Blended(smooth, level, factor)));
  }
}

// std::round() in a form that vectorises.
HWY_INLINE std::int32_t RoundedAway(float value) {
  const auto whole = static_cast<std::int32_t>(value);
  const float rest = value - static_cast<float>(whole);
  return whole + static_cast<std::int32_t>(rest >= 0.5F) -
         static_cast<std::int32_t>(rest <= -0.5F);
}

HWY_INLINE std::int32_t SourceOf(const SourceAxis& axis, int x,
                                 float part_of_y) {
  return RoundedAway((axis.by_x * static_cast<float>(x) + part_of_y) +
                     axis.offset);
}

HWY_NOINLINE void FindPlaces(const SourceAxis& from_x, const SourceAxis& from_y,
                             int y, int height,
                             std::span<std::int32_t> places) {
  const float x_part_of_y = from_x.by_y * static_cast<float>(y);
  const float y_part_of_y = from_y.by_y * static_cast<float>(y);
  const SourceAxis x_axis = from_x;  // Local, so that no store aliases it.
  const SourceAxis y_axis = from_y;
  const auto width = static_cast<std::int32_t>(places.size());
  for (std::int32_t x = 0; x < width; ++x) {
    const std::int32_t column = SourceOf(x_axis, x, x_part_of_y);
    const std::int32_t row = SourceOf(y_axis, x, y_part_of_y);
    const bool is_inside =
        (column >= 0) & (column < width) & (row >= 0) & (row < height);
    places[static_cast<std::size_t>(x)] =
        is_inside ? row * width + column : height * width;
  }
}

HWY_INLINE std::uint32_t MixGray(std::uint32_t pixel) {
  const float gray = 0.2989F * RealLevel(pixel, kRedShift) +
                     0.587F * RealLevel(pixel, kGreenShift) +
                     0.114F * RealLevel(pixel, kBlueShift);
  return static_cast<std::uint32_t>(static_cast<int>(gray));
}

HWY_NOINLINE std::uint64_t SumOfGray(std::span<const std::uint32_t> pixels) {
  std::uint64_t sum = 0;
  for (const std::uint32_t pixel : pixels) {
    sum += MixGray(pixel);
  }
  return sum;
}

HWY_NOINLINE void MixWithGray(float factor, float gray_part,
                              std::span<std::uint32_t> pixels) {
  for (std::uint32_t& pixel : pixels) {
    const float other =
        gray_part * static_cast<float>(static_cast<int>(MixGray(pixel)));
    std::uint32_t mixed = 0;
    for (const int shift : kChannelShifts) {
      mixed |= TruncatedLevel(factor * RealLevel(pixel, shift) + other)
               << shift;
    }
    pixel = mixed;
  }
}

// Brings a value from -6..12 to 0..6, on a circle of six sextants.
HWY_INLINE float OnCircle(float sextants) {
  const float once = sextants < 0.0F ? sextants + 6.0F : sextants;
  return once >= 6.0F ? once - 6.0F : once;
}

// A channel's level after the turn: `highest` near the channel's own hue, and
// up to `chroma` less away from it. Requires: sextants is in 0..12; it is the
// hue counted from where the channel begins to fall, one sextant past the
// channel's own hue.
HWY_INLINE std::uint32_t HueLevel(float sextants, float highest, float chroma) {
  const float place = OnCircle(sextants);
  const float loss = Lesser(Greater(Lesser(place, 4.0F - place), 0.0F), 1.0F);
  // Divides 0..1 into 256 equal parts, as torchvision's conversion to bytes.
  constexpr float kParts = 255.999F / 255.0F;
  return TruncatedLevel((highest - chroma * loss) * kParts);
}

HWY_INLINE std::uint32_t HueTurned(std::uint32_t pixel, float turn) {
  const float red = RealLevel(pixel, kRedShift);
  const float green = RealLevel(pixel, kGreenShift);
  const float blue = RealLevel(pixel, kBlueShift);
  const float highest = Greater(red, Greater(green, blue));
  const float chroma = highest - Lesser(red, Lesser(green, blue));
  const float divisor = chroma > 0.0F ? chroma : 1.0F;
  const bool is_red = red == highest;
  const bool is_green = green == highest;
  const float ahead = is_red ? green : is_green ? blue : red;
  const float behind = is_red ? blue : is_green ? red : green;
  const float base = is_red ? 0.0F : is_green ? 2.0F : 4.0F;
  const float hue = OnCircle(base + (ahead - behind) / divisor + turn);
  return HueLevel(hue + 5.0F, highest, chroma) << kRedShift |
         HueLevel(hue + 3.0F, highest, chroma) << kGreenShift |
         HueLevel(hue + 1.0F, highest, chroma) << kBlueShift;
}

HWY_NOINLINE void TurnHue(float sextants, std::span<std::uint32_t> pixels) {
  for (std::uint32_t& pixel : pixels) {
    pixel = HueTurned(pixel, sextants);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_AUGMENT_LOOPS_INL_H_
