// Compiled once for each SIMD target, by loops.cc.

#if defined(INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
#undef INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
#else
#define INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "preprocess/augment/loops.h"
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

// Sample i, smoothed by 1 1 1, 1 5 1, 1 1 1 over 13, rounded; which is never
// near a half, so other libraries' single precision gives the same.
HWY_INLINE std::uint32_t Smoothed(const std::uint8_t* above,
                                  const std::uint8_t* beside,
                                  const std::uint8_t* below, std::size_t i) {
  constexpr std::size_t kPixel = 4;
  const std::uint32_t sum = above[i - kPixel] + above[i] + above[i + kPixel] +
                            beside[i - kPixel] + 5U * beside[i] +
                            beside[i + kPixel] + below[i - kPixel] + below[i] +
                            below[i + kPixel];
  return (sum + 6) / 13;
}

HWY_NOINLINE void BlendFromSmooth(float factor, const std::uint8_t* above,
                                  const std::uint8_t* beside,
                                  const std::uint8_t* below,
                                  std::span<std::uint8_t> row) {
  constexpr std::size_t kPixel = 4;
  for (std::size_t i = kPixel; i + kPixel < row.size(); ++i) {
    row[i] = static_cast<std::uint8_t>(
        BlendedLevel(Smoothed(above, beside, below, i), beside[i], factor));
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
                                  const FixedAxis& from_y, int y, int height,
                                  std::span<std::int32_t> places) {
  const std::int32_t x_start = FixedStart(from_x, y);
  const std::int32_t y_start = FixedStart(from_y, y);
  const std::int32_t x_step = from_x.by_x;  // Local: no store aliases it.
  const std::int32_t y_step = from_y.by_x;
  const auto width = static_cast<std::int32_t>(places.size());
  for (std::int32_t x = 0; x < width; ++x) {
    const std::int32_t column = FixedSource(x_start, x_step, x);
    const std::int32_t row = FixedSource(y_start, y_step, x);
    const bool is_inside =
        (column >= 0) & (column < width) & (row >= 0) & (row < height);
    places[static_cast<std::size_t>(x)] =
        is_inside ? row * width + column : height * width;
  }
}

// A pixel's four bytes, for one vector.
using Samples = std::array<double, 4>;

HWY_INLINE Samples SamplesOf(std::uint32_t pixel) {
  Samples samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<int>(pixel >> (8 * i) & 255);
  }
  return samples;
}

HWY_INLINE std::uint32_t PixelOf(const Samples& samples) {
  std::uint32_t pixel = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double low = samples[i] > 0.0 ? samples[i] : 0.0;
    pixel |=
        static_cast<std::uint32_t>(static_cast<int>(low < 255.0 ? low : 255.0))
        << (8 * i);
  }
  return pixel;
}

// The value at `part` of the way from the tap in front of it to the next one,
// in Pillow's order of products and sums.
struct LinearKernel {
  static constexpr int kTaps = 2;
  static constexpr int kBefore = 0;  // taps before the one in front

  static HWY_INLINE Samples At(const std::array<Samples, kTaps>& taps,
                               double part) {
    Samples value;
    for (std::size_t i = 0; i < value.size(); ++i) {
      value[i] = taps[0][i] + (taps[1][i] - taps[0][i]) * part;
    }
    return value;
  }
};

struct CubicKernel {
  static constexpr int kTaps = 4;
  static constexpr int kBefore = 1;

  static HWY_INLINE Samples At(const std::array<Samples, kTaps>& taps,
                               double part) {
    Samples value;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const double a = taps[0][i];
      const double b = taps[1][i];
      const double c = taps[2][i];
      const double d = taps[3][i];
      value[i] = b + part * ((-a + c) + part * ((2 * (a - b) + c - d) +
                                                part * (-a + b - c + d)));
    }
    return value;
  }
};

HWY_INLINE int Inside(int i, int length) {
  return i < 0 ? 0 : i < length ? i : length - 1;
}

// An image's pixels: `height` rows of `width`.
struct Source {
  const std::uint32_t* pixels;
  int height;
  int width;
};

// The source coordinate on one axis: the tap in front of it, and the part of
// the way to the next one.
struct Place {
  int front;
  double part;
};

// Requires: value > -0.5.
HWY_INLINE Place PlaceAt(double value) {
  const double centre = value - 0.5;
  const int front = static_cast<int>(centre + 1) - 1;  // floor(): it is >= -1.
  return {front, centre - front};
}

// A part of 0 leaves the tap in front as it is, so the others are not read.
template <typename Kernel>
HWY_INLINE Samples AlongRow(const std::uint32_t* line, const Place& place,
                            int width) {
  if (place.part == 0) {
    return SamplesOf(line[Inside(place.front, width)]);
  }
  std::array<Samples, Kernel::kTaps> taps;
  for (int i = 0; i < Kernel::kTaps; ++i) {
    taps[static_cast<std::size_t>(i)] =
        SamplesOf(line[Inside(place.front - Kernel::kBefore + i, width)]);
  }
  return Kernel::At(taps, place.part);
}

template <typename Kernel>
HWY_INLINE std::uint32_t Interpolated(const Source& source, const Place& x,
                                      const Place& y) {
  const auto line = [&](int i) {
    return source.pixels +
           std::ptrdiff_t{Inside(i, source.height)} * source.width;
  };
  if (y.part == 0) {
    return PixelOf(AlongRow<Kernel>(line(y.front), x, source.width));
  }
  std::array<Samples, Kernel::kTaps> taps;
  for (int i = 0; i < Kernel::kTaps; ++i) {
    taps[static_cast<std::size_t>(i)] =
        AlongRow<Kernel>(line(y.front - Kernel::kBefore + i), x, source.width);
  }
  return PixelOf(Kernel::At(taps, y.part));
}

template <typename Kernel>
HWY_INLINE void Interpolate(const Affine& affine, int y, const Source& source,
                            std::uint32_t outside,
                            std::span<std::uint32_t> row) {
  const double centre_y = y + 0.5;
  for (int x = 0; x < source.width; ++x) {
    const double centre_x = x + 0.5;
    const double from_x =
        affine.xx * centre_x + affine.xy * centre_y + affine.x;
    const double from_y =
        affine.yx * centre_x + affine.yy * centre_y + affine.y;
    const bool is_inside = from_x >= 0 && from_x < source.width &&
                           from_y >= 0 && from_y < source.height;
    row[static_cast<std::size_t>(x)] =
        is_inside
            ? Interpolated<Kernel>(source, PlaceAt(from_x), PlaceAt(from_y))
            : outside;
  }
}

HWY_NOINLINE void InterpolateRow(bool is_bicubic, const Affine& affine, int y,
                                 const std::uint32_t* pixels, int height,
                                 std::uint32_t outside,
                                 std::span<std::uint32_t> row) {
  const Source source{pixels, height, static_cast<int>(row.size())};
  if (is_bicubic) {
    Interpolate<CubicKernel>(affine, y, source, outside, row);
  } else {
    Interpolate<LinearKernel>(affine, y, source, outside, row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_AUGMENT_PILLOW_LOOPS_INL_H_
