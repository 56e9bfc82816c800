#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/pixels/image_size.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"
#include "preprocess/resize/resize.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// The ResizeSink of the four-tap kernels: bicubic, and bilinear, two of whose
// weights are 0. Owns the four rows between the passes. One thread at a time.
class FourTapSink final : public ResizeSink {
 public:
  // Requires: kernel has four taps, both sides > 0.
  FourTapSink(ResizeKernel kernel, const ImageSize& size);

  void Begin(int width, int height) override;
  void Filled() override;

 private:
  void Take(std::uint8_t* row);
  void NextTaps();
  void WriteRow();

  ResizeKernel kernel_;
  ResizeColumns taps_of_columns_;
  std::vector<FourTaps> taps_of_rows_;
  FourTaps taps_ = {};  // of the destination's next row, first in the image
  std::vector<RowsGroup> kept_rows_;
};

}  // namespace infeed
