#include "preprocess/resize/area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/error.h"

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

// A part of a source sample in an output sample's mean.
struct AreaPart {
  int out;
  int in;
  float weight;
};

// The parts of a side, in the order of its outputs and then of its sources.
std::vector<AreaPart> AreaParts(int in_size, int out_size) {
  constexpr double kLeastPart = 1e-3;  // of a sample; less is left out
  const double scale = AreaScale(in_size, out_size);
  std::vector<AreaPart> parts;
  for (int out = 0; out < out_size; ++out) {
    const double begin = out * scale;
    const double end = begin + scale;
    const double covered = std::min(scale, in_size - begin);
    const int last = std::min(static_cast<int>(end), in_size - 1);
    const int first = std::min(static_cast<int>(std::ceil(begin)), last);
    const auto add = [&](int in, double part) {
      parts.push_back(
          {.out = out, .in = in, .weight = static_cast<float>(part / covered)});
    };
    if (first - begin > kLeastPart) {
      add(first - 1, first - begin);
    }
    for (int in = first; in < last; ++in) {
      add(in, 1);
    }
    if (end - last > kLeastPart) {
      add(last, std::min({end - last, 1.0, covered}));
    }
  }
  return parts;
}

// Adds the row's weighted samples to those of the output's row.
void AddColumns(const std::uint8_t* row, const std::vector<AreaPart>& columns,
                std::vector<float>& sums) {
  std::ranges::fill(sums, 0.0F);
  for (const AreaPart& part : columns) {
    const std::uint8_t* const pixel = row + std::ptrdiff_t{part.in} * 3;
    float* const sum = sums.data() + std::ptrdiff_t{part.out} * 3;
    for (int c = 0; c < 3; ++c) {
      sum[c] += static_cast<float>(pixel[c]) * part.weight;
    }
  }
}

void MeanOfParts(const RgbView& source, RgbImage& image) {
  const std::vector<AreaPart> rows = AreaParts(source.height, image.height());
  const std::vector<AreaPart> columns = AreaParts(source.width, image.width());
  const std::size_t samples = static_cast<std::size_t>(image.width()) * 3;
  std::vector<float> row(samples);
  std::vector<float> sums(samples);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [out, in, weight] = rows[i];
    AddColumns(source.row(in), columns, row);
    const bool begins = i == 0 || rows[i - 1].out != out;
    for (std::size_t k = 0; k < samples; ++k) {
      sums[k] = (begins ? 0 : sums[k]) + weight * row[k];
    }
    if (i + 1 == rows.size() || rows[i + 1].out != out) {
      std::ranges::transform(sums, image.row(out), NearestLevel);
    }
  }
}

// A scale that is a whole number, otherwise 0.
int WholeScale(int in_size, int out_size) {
  const double scale = AreaScale(in_size, out_size);
  const double whole = std::round(scale);
  return std::abs(scale - whole) < std::numeric_limits<double>::epsilon()
             ? static_cast<int>(whole)
             : 0;
}

// The mean of rows x columns pixels each, summed in whole numbers.
void MeanOfBlocks(const RgbView& source, int rows, int columns,
                  RgbImage& image) {
  const bool is_quarter = rows == 2 && columns == 2;  // rounds half up
  const float share = 1.0F / static_cast<float>(rows * columns);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(image.width()) * 3);
  for (int y = 0; y < image.height(); ++y) {
    std::ranges::fill(sums, 0);
    for (int row = y * rows; row < (y + 1) * rows; ++row) {
      const std::uint8_t* pixel = source.row(row);
      for (std::size_t x = 0; x < sums.size(); x += 3) {
        for (int i = 0; i < columns; ++i, pixel += 3) {
          sums[x] += pixel[0];
          sums[x + 1] += pixel[1];
          sums[x + 2] += pixel[2];
        }
      }
    }
    std::ranges::transform(sums, image.row(y), [&](std::int64_t sum) {
      return is_quarter ? static_cast<std::uint8_t>((sum + 2) >> 2)
                        : NearestLevel(static_cast<float>(sum) * share);
    });
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

void ResizeArea(const RgbView& source, int width, int height, RgbImage& image) {
  Check(source.width > 0 && source.height > 0 && width > 0 && height > 0,
        "an image has pixels");
  image.Resize(width, height);
  if (width > source.width || height > source.height) {
    return ResizeCubic(source, image);
  }
  const int rows = WholeScale(source.height, height);
  const int columns = WholeScale(source.width, width);
  if (rows > 0 && columns > 0) {
    MeanOfBlocks(source, rows, columns, image);
  } else {
    MeanOfParts(source, image);
  }
}

}  // namespace infeed
