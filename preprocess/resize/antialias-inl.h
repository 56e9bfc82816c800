// The passes of kernels.h for each instruction set.
#if defined(INFEED_PREPROCESS_ANTIALIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_ANTIALIAS_INL_H_
#undef INFEED_PREPROCESS_ANTIALIAS_INL_H_
#else
#define INFEED_PREPROCESS_ANTIALIAS_INL_H_
#endif

#include <array>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "preprocess/pixels/pack.h"
#include "preprocess/resize/antialias.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"
#include "preprocess/resize/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if INFEED_RESIZE_VECTORS

// The sums of products with the weights' high parts and with their low ones.
struct Sums {
  V32 high;
  V32 low;

  HWY_INLINE void Add(V16 levels, V16 high_weights, V16 low_weights) {
    high = MulAddPairs(levels, high_weights, high);
    low = MulAddPairs(levels, low_weights, low);
  }
  // Levels may be below 0 or above 255, but are 16-bit numbers.
  [[nodiscard]] HWY_INLINE V32 Levels() const {
    return hn::ShiftRight<kAntialiasBits>(
        hn::Add(hn::ShiftLeft<kAntialiasLowBits>(high), low));
  }
};

HWY_INLINE Sums NoSums() {
  return {hn::Zero(D32()), hn::Set(D32(), kAntialiasOffset)};
}

// Two rows' sums of a vector's pixels.
struct PairSums {
  Sums upper;
  Sums lower;

  HWY_INLINE void Add(V16 upper_levels, V16 lower_levels,
                      const std::int16_t* high, const std::int16_t* low) {
    const V16 high_weights = hn::Load(D16(), high);
    const V16 low_weights = hn::Load(D16(), low);
    upper.Add(upper_levels, high_weights, low_weights);
    lower.Add(lower_levels, high_weights, low_weights);
  }
  HWY_INLINE void Store(std::int16_t* levels) const {
    const V16 even = hn::BitCast(D16(), upper.Levels());
    const V16 odd = hn::BitCast(D16(), hn::ShiftLeft<16>(lower.Levels()));
    hn::Store(
        hn::Clamp(hn::OddEven(odd, even), hn::Zero(D16()), hn::Set(D16(), 255)),
        D16(), levels);
  }
};

void BlendAnyTaps(const std::uint8_t* HWY_RESTRICT upper,
                  const std::uint8_t* HWY_RESTRICT lower,
                  const AntialiasColumns& columns,
                  RowPairGroup* HWY_RESTRICT pair) {
  const V8 first = hn::LoadDup128(D8(), kFirstTaps.data());
  const V8 last = hn::LoadDup128(D8(), kLastTaps.data());
  const auto pick = [](V8 bytes, V8 places) HWY_ATTR {
    return hn::BitCast(D16(), hn::TableLookupBytes(bytes, places));
  };
  constexpr int kStepBytes = 12;
  for (int group = 0; group < columns.groups(); ++group, ++pair) {
    const AntialiasWeights* const weights = columns.weights(group);
    for (int i = 0; i < 4; i += kVectorPixels) {
      const std::int32_t* const offsets =
          columns.places(group).offsets.data() + i;
      PairSums sums{NoSums(), NoSums()};
      for (int step = 0; step < columns.steps(); ++step) {
        const AntialiasWeights& of = weights[step];
        const V8 above = LoadPixels(upper + step * kStepBytes, offsets);
        const V8 below = LoadPixels(lower + step * kStepBytes, offsets);
        sums.Add(pick(above, first), pick(below, first),
                 of.high[0].data() + 8 * i, of.low[0].data() + 8 * i);
        sums.Add(pick(above, last), pick(below, last),
                 of.high[1].data() + 8 * i, of.low[1].data() + 8 * i);
      }
      sums.Store(pair->levels.data() + 8 * i);
    }
  }
}

#if HWY_TARGET <= HWY_AVX3_DL
// All taps of all four pixels by one load, and one permutation for each two.
void BlendNearTaps(const std::uint8_t* HWY_RESTRICT upper,
                   const std::uint8_t* HWY_RESTRICT lower,
                   const AntialiasColumns& columns,
                   RowPairGroup* HWY_RESTRICT pair) {
  const __m512i six = _mm512_set1_epi8(6);
  const auto pick = [](__m512i places, __m512i bytes) HWY_ATTR {
    // The samples 0 and the upper halves of the 16-bit numbers are zero.
    constexpr __mmask64 kBytes = 0x5550555055505550;
    return V16{_mm512_maskz_permutexvar_epi8(kBytes, places, bytes)};
  };
  for (int group = 0; group < columns.groups(); ++group, ++pair) {
    const ColumnPlaces& at = columns.places(group);
    const AntialiasWeights* const weights = columns.weights(group);
    __m512i places = _mm512_load_si512(at.places.data());
    const __m512i above = _mm512_loadu_si512(upper + at.base);
    const __m512i below = _mm512_loadu_si512(lower + at.base);
    PairSums sums{NoSums(), NoSums()};
    for (int step = 0; step < columns.steps(); ++step) {
      const AntialiasWeights& of = weights[step];
      for (int half = 0; half < 2; ++half) {
        sums.Add(pick(places, above), pick(places, below), of.high[half].data(),
                 of.low[half].data());
        places = _mm512_add_epi8(places, six);
      }
    }
    sums.Store(pair->levels.data());
  }
}
#endif

void BlendTaps(const std::uint8_t* upper, const std::uint8_t* lower,
               const AntialiasColumns& columns, RowPairGroup* pair) {
#if HWY_TARGET <= HWY_AVX3_DL
  if (columns.is_near()) {
    return BlendNearTaps(upper, lower, columns, pair);
  }
#endif
  BlendAnyTaps(upper, lower, columns, pair);
}

void SumRows(std::span<const WeightedPair> pairs, const PixelRow& row) {
  WritePixels(
      [&](int x) HWY_ATTR {
        Sums a = NoSums();
        Sums b = NoSums();
        Sums c = NoSums();
        Sums d = NoSums();
        for (const WeightedPair& pair : pairs) {
          const V16 high = SetPairs(pair.high.data());
          const V16 low = SetPairs(pair.low.data());
          const std::int16_t* const levels =
              pair.rows[x / 4].levels.data() + x % 4 * 8;
          constexpr int kLanes = 8 * kVectorPixels;
          a.Add(hn::Load(D16(), levels), high, low);
          b.Add(hn::Load(D16(), levels + kLanes), high, low);
          c.Add(hn::Load(D16(), levels + 2 * kLanes), high, low);
          d.Add(hn::Load(D16(), levels + 3 * kLanes), high, low);
        }
        return PackLevels(a.Levels(), b.Levels(), c.Levels(), d.Levels());
      },
      row);
}

#else  // plain loops

void BlendPixel(const std::uint8_t* row, const AntialiasWeights* weights,
                int steps, int pixel, std::int16_t* levels) {
  std::array<std::int32_t, 3> sums{};
  for (int tap = 0; tap < 4 * steps; ++tap, row += 3) {
    const AntialiasWeights& of = weights[tap / 4];
    const int at = pixel * 8 + tap % 2;
    const int half = tap % 4 / 2;
    const std::int32_t weight =
        of.high[half][at] * (1 << kAntialiasLowBits) + of.low[half][at];
    for (int channel = 0; channel < 3; ++channel) {
      sums[channel] += weight * row[channel];
    }
  }
  for (int channel = 0; channel < 3; ++channel) {
    levels[2 * (3 - channel)] =
        static_cast<std::int16_t>(RoundToByte(sums[channel]));
  }
}

void BlendTaps(const std::uint8_t* upper, const std::uint8_t* lower,
               const AntialiasColumns& columns, RowPairGroup* pair) {
  for (int group = 0; group < columns.groups(); ++group, ++pair) {
    for (int pixel = 0; pixel < 4; ++pixel) {
      const std::int32_t offset = columns.places(group).offsets[pixel];
      std::int16_t* const levels = pair->levels.data() + 8 * pixel;
      BlendPixel(upper + offset, columns.weights(group), columns.steps(), pixel,
                 levels);
      BlendPixel(lower + offset, columns.weights(group), columns.steps(), pixel,
                 levels + 1);
    }
  }
}

void SumRows(std::span<const WeightedPair> pairs, const PixelRow& row) {
  for (std::size_t x = 0; x < row.pixels.size(); ++x) {
    std::array<std::int32_t, 3> sums{};
    for (const WeightedPair& pair : pairs) {
      const std::int16_t* const levels =
          pair.rows[x / 4].levels.data() + x % 4 * 8;
      for (int half = 0; half < 2; ++half) {
        const std::int32_t weight =
            pair.high[half] * (1 << kAntialiasLowBits) + pair.low[half];
        for (int channel = 0; channel < 3; ++channel) {
          sums[channel] += weight * levels[2 * (3 - channel) + half];
        }
      }
    }
    const auto level = [&](int channel) {
      return static_cast<std::uint32_t>(RoundToByte(sums[channel]));
    };
    row.pixels[x] = PackPixel(level(0), level(1), level(2));
  }
  row.AddToHash();
}

#endif  // INFEED_RESIZE_VECTORS

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_ANTIALIAS_INL_H_
