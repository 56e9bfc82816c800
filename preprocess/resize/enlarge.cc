#include "preprocess/resize/enlarge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace infeed {
namespace {

constexpr int kBits = 11;  // of a weight's fraction

struct CubicTaps {
  int first;
  std::array<int, 4> weight;  // in 2^-11
};

// The kernel at a distance of 0..1 and of 1..2 samples.
float NearWeight(float distance) {
  constexpr float kA = -0.75F;
  return ((kA + 2) * distance - (kA + 3)) * distance * distance + 1;
}
float FarWeight(float distance) {
  constexpr float kA = -0.75F;
  return ((kA * distance - 5 * kA) * distance + 8 * kA) * distance - 4 * kA;
}

std::vector<CubicTaps> CubicSide(int in_size, int out_size) {
  const double scale = AreaScale(in_size, out_size);
  std::vector<CubicTaps> side;
  for (int out = 0; out < out_size; ++out) {
    const auto place = static_cast<float>((out + 0.5) * scale - 0.5);
    const int whole = static_cast<int>(std::floor(place));
    const float part = place - static_cast<float>(whole);
    std::array<float, 4> weight = {FarWeight(part + 1), NearWeight(part),
                                   NearWeight(1 - part), 0};
    weight[3] = 1 - weight[0] - weight[1] - weight[2];
    CubicTaps& taps = side.emplace_back(CubicTaps{whole - 1, {}});
    std::ranges::transform(weight, taps.weight.begin(), [](float value) {
      return static_cast<int>(std::lrint(value * (1 << kBits)));
    });
  }
  return side;
}

// The rows of the source that the last outputs needed, resized horizontally.
class CubicRows {
 public:
  CubicRows(const RgbView& source, int width)
      : source_(source), columns_(CubicSide(source.width, width)) {}

  // The row at y, or at the edge that is near it. Valid until a row four
  // further is asked for.
  const int* At(int y) {
    const int row = std::clamp(y, 0, source_.height - 1);
    Row& kept = rows_[static_cast<std::size_t>(row) % rows_.size()];
    if (kept.row != row) {
      kept.row = row;
      Fill(source_.row(row), kept.sums);
    }
    return kept.sums.data();
  }

 private:
  struct Row {
    int row = -1;
    std::vector<int> sums;
  };

  void Fill(const std::uint8_t* row, std::vector<int>& sums) const {
    sums.clear();
    for (const CubicTaps& taps : columns_) {
      for (int c = 0; c < 3; ++c) {
        int sum = 0;
        for (int i = 0; i < 4; ++i) {
          const int x = std::clamp(taps.first + i, 0, source_.width - 1);
          sum += taps.weight[static_cast<std::size_t>(i)] *
                 row[std::ptrdiff_t{x} * 3 + c];
        }
        sums.push_back(sum);
      }
    }
  }

  RgbView source_;
  std::vector<CubicTaps> columns_;
  std::array<Row, 4> rows_;
};

// OpenCV has vectors of eight samples in floating point, and the rest of a row
// in whole numbers.
void BlendCubicRows(const std::array<const int*, 4>& rows,
                    const std::array<int, 4>& weight, int samples,
                    std::uint8_t* to) {
  constexpr float kUnit = 1.0F / (1 << 2 * kBits);
  const auto in_vectors = samples / 8 * 8;
  const auto product = [&](int i, int k) {
    return static_cast<float>(rows[i][k]) *
           (static_cast<float>(weight[i]) * kUnit);
  };
  for (int k = 0; k < in_vectors; ++k) {
    to[k] = NearestLevel(product(0, k) +
                         (product(1, k) + (product(2, k) + product(3, k))));
  }
  for (int k = in_vectors; k < samples; ++k) {
    int sum = 1 << (2 * kBits - 1);
    for (int i = 0; i < 4; ++i) {
      sum += rows[i][k] * weight[i];
    }
    to[k] = static_cast<std::uint8_t>(std::clamp(sum >> 2 * kBits, 0, 255));
  }
}

}  // namespace

void ResizeCubic(const RgbView& source, RgbImage& image) {
  CubicRows rows(source, image.width());
  const std::vector<CubicTaps> side = CubicSide(source.height, image.height());
  for (int y = 0; y < image.height(); ++y) {
    const CubicTaps& taps = side[static_cast<std::size_t>(y)];
    BlendCubicRows({rows.At(taps.first), rows.At(taps.first + 1),
                    rows.At(taps.first + 2), rows.At(taps.first + 3)},
                   taps.weight, image.width() * 3, image.row(y));
  }
}

}  // namespace infeed
