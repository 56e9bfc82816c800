#include "preprocess/jpeg/outside_pixels.h"

#include <algorithm>

#include "base/rounding.h"

namespace infeed {
namespace {

constexpr int kBlock = 8;        // pixels
constexpr int kMaxMcuSide = 32;  // largest of plain JPEGs

// The side of an MCU if `count` MCUs cover the pixels.
int McuSide(int pixels, int count) {
  int side = kBlock;
  while (side < kMaxMcuSide && CeilDiv(pixels, side) > count) {
    side *= 2;
  }
  return side;
}

}  // namespace

std::int64_t OutsidePixels(const JpegInfo& image, const Window& window,
                           int denominator, const JpegSeekIndex* index) {
  const std::int64_t inside = std::int64_t{window.width} * window.height;
  const int end_row = window.y + window.height;
  if (index == nullptr) {
    return CeilDiv<std::int64_t>(image.width, denominator) * end_row - inside;
  }
  const std::int64_t mcu_height =
      McuSide(image.height, index->mcu_rows) / denominator;
  const std::int64_t run = std::int64_t{index->run} *
                           McuSide(image.width, index->mcus_per_row) /
                           denominator;
  const std::int64_t covered = index->covered_rows() * mcu_height;
  const std::int64_t end = std::min(
      CeilDiv<std::int64_t>(end_row, mcu_height) * mcu_height, covered);
  const std::int64_t rows =
      std::max<std::int64_t>(end - window.y / mcu_height * mcu_height, 0);
  const std::int64_t columns = window.x + window.width - window.x / run * run;
  const std::int64_t in_order = std::max<std::int64_t>(end_row - covered, 0) *
                                CeilDiv<std::int64_t>(image.width, denominator);
  return rows * columns + in_order - inside;
}

}  // namespace infeed
