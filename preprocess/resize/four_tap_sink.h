#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "preprocess/pixels/row_band.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"
#include "preprocess/resize/resize.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// The ResizeSink of the four-tap kernels: bicubic, and bilinear, two of whose
// weights are 0. Owns a band of rows and the four rows between the passes. One
// thread at a time.
class FourTapSink final : public ResizeSink {
 public:
  // Requires: kernel has four taps, size > 0.
  FourTapSink(ResizeKernel kernel, int size);

  void Aim(std::span<std::uint32_t> destination, bool flip,
           const std::optional<ResizeSides>& sides) override;

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override;
  void Filled() override;

  [[nodiscard]] bool is_complete() const override { return out_y_ == size_; }
  [[nodiscard]] std::chrono::steady_clock::duration busy() const override {
    return busy_;
  }

 private:
  void Take(std::uint8_t* row);
  void WriteRow();
  void AimRow();

  ResizeKernel kernel_;
  int size_;
  std::span<std::uint32_t> destination_;
  bool flip_ = false;
  std::optional<ResizeSides> sides_;
  std::chrono::steady_clock::duration busy_{};

  int width_ = 0;
  int height_ = 0;
  ResizeColumns columns_;
  RowBand band_;

  int in_y_ = 0;        // the image's next row
  int out_y_ = 0;       // the destination's next row
  ResizeSide side_;     // the vertical one
  FourTapAxis axis_;    // of side_
  FourTaps taps_ = {};  // of the destination's next row, first in the image
  std::vector<RowsGroup> rows_;
};

}  // namespace infeed
