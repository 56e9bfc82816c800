#pragma once

#include <cstdint>

// The number of an image that a device holds, and whether it is mirrored, in
// one 32-bit word per slot. Device kernels compile this header too.
namespace infeed {

// The slot is padding: black pixels, label -1, weight 0.
inline constexpr std::uint32_t kNoImage = 0xFFFFFFFF;

// The largest number of images that a word can number.
inline constexpr std::int64_t kMaxHeldImages = 0x7FFFFFFF;

// Requires: 0 <= image < kMaxHeldImages.
[[nodiscard]] constexpr std::uint32_t ImageChoice(std::int64_t image,
                                                  bool is_mirrored) {
  return static_cast<std::uint32_t>(image) << 1 | (is_mirrored ? 1U : 0U);
}

// The number of the image. Requires: not kNoImage.
[[nodiscard]] constexpr std::int64_t ChosenImage(std::uint32_t choice) {
  return choice >> 1;
}

// Where pixel `at` of the slot, [height, width], lies in images [N, height,
// width]. Requires: not kNoImage.
[[nodiscard]] constexpr std::int64_t ChosenPixel(std::uint32_t choice, int at,
                                                 int height, int width) {
  const int column = at % width;
  const int row_start = at - column;
  const int from = (choice & 1U) != 0 ? width - 1 - column : column;
  return ChosenImage(choice) * height * width + row_start + from;
}

}  // namespace infeed
