#pragma once

#include <cstddef>
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
  // Taps of the destination's next row. Requires: it is not complete.
  [[nodiscard]] const FourTaps& next_taps() const {
    return taps_of_rows_[static_cast<std::size_t>(out_y_)];
  }
  void Take(std::uint8_t* row);
  void WriteRow();

  ResizeKernel kernel_;
  ResizeColumns taps_of_columns_;
  std::vector<FourTaps> taps_of_rows_;  // first in the image that arrives
  std::vector<RowsGroup> kept_rows_;
};

}  // namespace infeed
