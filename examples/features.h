#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

// The features of packed pixels for a linear model.
namespace features {

using Numbers = std::vector<float>;
// The words of a square image: R << 24 | G << 16 | B << 8.
using Pixels = std::span<const std::uint32_t>;

inline int GreenOf(std::uint32_t word) {
  return static_cast<int>(word >> 16 & 0xff);
}

// The mean difference of an image's greens from those of the same image moved
// by (dx, dy). Requires: dy >= 0, both below the side.
inline float Difference(Pixels pixels, int side, int dx, int dy) {
  int sum = 0;
  int count = 0;
  for (int y = 0; y + dy < side; ++y) {
    for (int x = std::max(0, -dx); x + std::max(0, dx) < side; ++x) {
      const int here = y * side + x;
      sum += std::abs(GreenOf(pixels[here]) -
                      GreenOf(pixels[here + dy * side + dx]));
      ++count;
    }
  }
  return static_cast<float>(sum) / static_cast<float>(count);
}

// The differences of all short moves, as shares of their mean and around 0:
// they depend neither on where a texture begins nor on its colors. The last
// number is 1, the bias.
inline Numbers Of(Pixels pixels, int side) {
  constexpr int kReach = 6;
  Numbers numbers;
  for (int dy = 0; dy <= kReach; ++dy) {
    for (int dx = dy == 0 ? 1 : -kReach; dx <= kReach; ++dx) {
      numbers.push_back(Difference(pixels, side, dx, dy));
    }
  }
  const float sum = std::accumulate(numbers.begin(), numbers.end(), 1e-3F);
  const float mean = sum / static_cast<float>(numbers.size());
  for (float& number : numbers) {
    number = 4 * (number / mean - 1);
  }
  numbers.push_back(1);
  return numbers;
}

}  // namespace features
