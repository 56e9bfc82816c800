#include "preprocess/recipe/pad_crop.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "base/error.h"

namespace infeed {
namespace {

constexpr int kPadding = 4;
constexpr std::uint32_t kBlack = 0;

int DrawOffset(RandomSource& random) {
  return static_cast<int>(random.Below(2 * kPadding + 1));
}

// Moves elements by `distance` places, towards the end if it is above 0.
void Shift(std::span<std::uint32_t> pixels, std::ptrdiff_t distance) {
  const std::ptrdiff_t gone = std::min(std::abs(distance), std::ssize(pixels));
  if (distance > 0) {
    std::shift_right(pixels.begin(), pixels.end(), gone);
    std::fill_n(pixels.begin(), gone, kBlack);
  } else {
    std::shift_left(pixels.begin(), pixels.end(), gone);
    std::fill_n(pixels.rbegin(), gone, kBlack);
  }
}

}  // namespace

Move DrawMove(RandomSource& random) {
  const int top = DrawOffset(random);
  const int left = DrawOffset(random);
  return {.down = kPadding - top, .right = kPadding - left};
}

void MovePixels(const Move& move, int size, std::span<std::uint32_t> pixels) {
  const auto width = static_cast<std::size_t>(size);
  Check(pixels.size() == width * width, "a square of the given size");
  Shift(pixels, std::ptrdiff_t{move.down} * size);
  for (std::size_t row = 0; row < pixels.size(); row += width) {
    Shift(pixels.subspan(row, width), move.right);
  }
}

}  // namespace infeed
