#include "preprocess/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "preprocess/pack.h"

namespace infeed {
namespace {

constexpr int kSteps = 1024;          // places between two samples
constexpr int kWeightBits = 14;       // weights are in 2^-14
constexpr int kRowBits = 7;           // the row between the passes is in 2^-7
constexpr int kRowBias = 128;         // and this much too low, to fit 16 bits
constexpr double kSharpness = -0.75;  // A of the cubic convolution

using Weights = std::array<std::int16_t, 4>;
using WeightTable = std::array<Weights, kSteps + 1>;

// The weights at a fraction of t / kSteps behind the second of four samples.
Weights MakeWeights(int t) {
  const auto fixed = [](double weight) {
    return static_cast<int>(std::lrint(weight * (1 << kWeightBits)));
  };
  // The kernel at distance x in 0..1 and at distance 1 + x.
  const auto near = [&](double x) {
    return fixed(((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1);
  };
  const auto far = [&](double x) {
    return fixed(kSharpness * x * (1 - x) * (1 - x));
  };
  const double x = static_cast<double>(t) / kSteps;
  std::array<int, 4> weights{far(x), near(x), near(1 - x), far(1 - x)};
  // What rounding left over goes to the largest, so that flat areas stay flat.
  const int rest =
      (1 << kWeightBits) - weights[0] - weights[1] - weights[2] - weights[3];
  weights[t <= kSteps / 2 ? 1 : 2] += rest;
  Weights result{};
  std::copy(weights.begin(), weights.end(), result.begin());
  return result;
}

const WeightTable& Table() {
  static const WeightTable table = [] {
    WeightTable made{};
    for (int t = 0; t <= kSteps; ++t) {
      made[t] = MakeWeights(t);
    }
    return made;
  }();
  return table;
}

// The vertical pass: one row of `count` samples in between.
void BlendRows(const RgbView& source, const BicubicTaps& taps, int count,
               std::int16_t* row) {
  const std::uint8_t* r0 = source.row(taps.index[0]);
  const std::uint8_t* r1 = source.row(taps.index[1]);
  const std::uint8_t* r2 = source.row(taps.index[2]);
  const std::uint8_t* r3 = source.row(taps.index[3]);
  const auto [w0, w1, w2, w3] = taps.weight;
  constexpr int kShift = kWeightBits - kRowBits;
  constexpr int kOffset = (1 << (kShift - 1)) - (kRowBias << kWeightBits);
  for (int i = 0; i < count; ++i) {
    const int sum = r0[i] * w0 + r1[i] * w1 + r2[i] * w2 + r3[i] * w3;
    row[i] = static_cast<std::int16_t>((sum + kOffset) >> kShift);
  }
}

// The horizontal pass for one channel of one pixel. The weights' sum is one,
// so the bias comes back whole.
std::uint32_t BlendColumns(const std::int16_t* row, const BicubicTaps& taps) {
  constexpr int kShift = kWeightBits + kRowBits;
  int sum = (1 << (kShift - 1)) + (kRowBias << kShift);
  for (int i = 0; i < 4; ++i) {
    sum += row[taps.index[i]] * taps.weight[i];
  }
  return static_cast<std::uint32_t>(std::clamp(sum >> kShift, 0, 255));
}

// The taps of all columns, with indices of samples instead of pixels.
void FindColumns(int in_size, int out_size, std::vector<BicubicTaps>& columns) {
  columns.resize(static_cast<std::size_t>(out_size));
  for (int x = 0; x < out_size; ++x) {
    columns[x] = BicubicTapsAt(x, in_size, out_size);
    for (int& index : columns[x].index) {
      index *= 3;
    }
  }
}

}  // namespace

BicubicTaps BicubicTapsAt(int out_index, int in_size, int out_size) {
  const float scale =
      static_cast<float>(in_size) / static_cast<float>(out_size);
  const float place = static_cast<float>(out_index) * scale;
  const int whole = static_cast<int>(place);
  const float fraction = place - static_cast<float>(whole);
  BicubicTaps taps{};
  taps.weight = Table()[std::lrintf(fraction * kSteps)];
  for (int i = 0; i < 4; ++i) {
    taps.index[i] = std::clamp(whole - 1 + i, 0, in_size - 1);
  }
  return taps;
}

void ResizeBicubic(const RgbView& source, int size, bool flip,
                   ResizeScratch& scratch,
                   std::span<std::uint32_t> destination) {
  Check(source.width > 0 && source.height > 0, "an image has pixels");
  Check(size > 0 && std::ssize(destination) == std::ptrdiff_t{size} * size,
        "the destination is a square of the given size");
  const int samples = source.width * 3;
  FindColumns(source.width, size, scratch.columns);
  scratch.row.resize(static_cast<std::size_t>(samples));
  const std::int16_t* const row = scratch.row.data();
  for (int y = 0; y < size; ++y) {
    BlendRows(source, BicubicTapsAt(y, source.height, size), samples,
              scratch.row.data());
    std::uint32_t* const target = destination.data() + std::ptrdiff_t{y} * size;
    for (int x = 0; x < size; ++x) {
      const BicubicTaps& taps = scratch.columns[x];
      target[flip ? size - 1 - x : x] =
          PackPixel(BlendColumns(row, taps), BlendColumns(row + 1, taps),
                    BlendColumns(row + 2, taps));
    }
  }
}

}  // namespace infeed
