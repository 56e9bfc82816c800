#pragma once

#include <array>
#include <vector>

#include "preprocess/jpeg_entropy/scan.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// The part of a plain JPEG's scan that a window needs, and the places of its
// samples.
// Ranges are [first, end).
struct WindowPlan {
  // Blocks of one component.
  struct Component {
    int size = 8;   // samples a side that a block is transformed to
    int width = 0;  // samples within the image, at that size
    int height = 0;
    int first_block = 0;  // columns of blocks that are transformed
    int end_block = 0;
    // For each row of blocks in an MCU: the indices of the blocks to transform,
    // among a row of MCUs' decoded blocks in the scan's order.
    std::array<std::vector<int>, 2> blocks{};
  };

  Window window = {};  // in pixels of the output image
  int blocks_per_mcu = 0;
  int mcu_height = 0;  // in rows of pixels
  int first_mcu = 0;   // columns of MCUs that are decoded
  int end_mcu = 0;
  int first_row = 0;  // rows of MCUs to decode; those above are skipped
  int end_row = 0;
  std::array<Component, 3> components{};
  // Pixels that share a chroma sample: 1 or 2, in a row and in a column.
  int columns_a_sample = 1;
  int rows_a_sample = 1;
  // Whether missing chroma samples are blended from two columns and two rows
  // (libjpeg's "fancy upsampling"), else repeated.
  bool blend_columns = false;
  bool blend_rows = false;

  [[nodiscard]] int mcus() const { return end_mcu - first_mcu; }
};

// Plans a window of the image at 1 / denominator of its size, sides rounded up.
// The rows of MCUs are those that libjpeg reads for it, so that the same damage
// is detected. Requires: denominator is 1, 2, 4 or 8, and the window lies in
// the image at that size.
void PlanWindow(const JpegScan& scan, const Window& window, int denominator,
                WindowPlan& plan);

}  // namespace infeed
