// Compiled once for each SIMD target, by pillow_loops.cc.

#if defined(INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
#undef INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
#else
#define INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "preprocess/augment/pillow_loops.h"
#include "preprocess/augment/pixels.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

HWY_INLINE std::uint32_t PillowGray(std::uint32_t pixel) {
  return (Level(pixel, kRedShift) * 19595 + Level(pixel, kGreenShift) * 38470 +
          Level(pixel, kBlueShift) * 7471 + 0x8000) >>
         16;
}

HWY_NOINLINE std::uint64_t SumOfPillowGray(
    std::span<const std::uint32_t> pixels) {
  std::uint64_t sum = 0;
  for (const std::uint32_t pixel : pixels) {
    sum += PillowGray(pixel);
  }
  return sum;
}

HWY_INLINE std::uint32_t BlendedLevel(std::uint32_t low, std::uint32_t high,
                                      float factor) {
  const auto from = static_cast<int>(low);
  const int step = static_cast<int>(high) - from;
  return TruncatedLevel(static_cast<float>(from) +
                        factor * static_cast<float>(step));
}

HWY_NOINLINE void BlendFromPillowGray(float factor,
                                      std::span<std::uint32_t> pixels) {
  for (std::uint32_t& pixel : pixels) {
    const std::uint32_t gray = PillowGray(pixel);
    std::uint32_t blended = 0;
    for (const int shift : kChannelShifts) {
      blended |= BlendedLevel(gray, Level(pixel, shift), factor) << shift;
    }
    pixel = blended;
  }
}

HWY_NOINLINE void BlendFromSmooth(float factor, const std::uint8_t* above,
                                  const std::uint8_t* beside,
                                  const std::uint8_t* below,
                                  std::span<std::uint8_t> row) {
  constexpr std::size_t kPixel = 4;
  for (std::size_t i = kPixel; i + kPixel < row.size(); ++i) {
    const std::uint32_t sum = above[i - kPixel] + above[i] + above[i + kPixel] +
                              beside[i - kPixel] + 5U * beside[i] +
                              beside[i + kPixel] + below[i - kPixel] +
                              below[i] + below[i + kPixel];
    // Pillow sums in single precision; a sum over 13 is never near a half.
    row[i] = static_cast<std::uint8_t>(
        BlendedLevel((sum + 6) / 13, beside[i], factor));
  }
}

// Wraps as the library's integers do, of images that are far too large.
HWY_INLINE std::int32_t FixedStart(const FixedAxis& axis, int y) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(axis.offset) +
                                   static_cast<std::uint32_t>(axis.by_y) *
                                       static_cast<std::uint32_t>(y));
}

HWY_INLINE std::int32_t FixedSource(std::int32_t start, std::int32_t by_x,
                                    std::int32_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(start) +
                                   static_cast<std::uint32_t>(by_x) *
                                       static_cast<std::uint32_t>(x)) >>
         16;
}

HWY_NOINLINE void FindFixedPlaces(const FixedAxis& from_x,
                                  const FixedAxis& from_y, int y,
                                  std::span<std::int32_t> places) {
  const std::int32_t x_start = FixedStart(from_x, y);
  const std::int32_t y_start = FixedStart(from_y, y);
  const std::int32_t x_step = from_x.by_x;  // Local: no store aliases it.
  const std::int32_t y_step = from_y.by_x;
  const auto side = static_cast<std::int32_t>(places.size());
  for (std::int32_t x = 0; x < side; ++x) {
    const std::int32_t column = FixedSource(x_start, x_step, x);
    const std::int32_t row = FixedSource(y_start, y_step, x);
    const bool is_inside =
        (column >= 0) & (column < side) & (row >= 0) & (row < side);
    places[static_cast<std::size_t>(x)] =
        is_inside ? row * side + column : side * side;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
