#include "preprocess/resize/area.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "preprocess/resize/enlarge.h"

namespace infeed {
namespace {

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
