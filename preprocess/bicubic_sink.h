#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/resize.h"
#include "preprocess/resize_columns.h"
#include "preprocess/resize_kernels.h"
#include "preprocess/row_sink.h"

namespace infeed {

// Resizes an image to a square of packed pixels while its rows arrive: exactly
// ResizeBicubic()'s bytes, by vector code and without the image ever being in
// memory. Owns a band of rows and the four rows between the passes, which are
// kept from image to image. One thread at a time.
class BicubicSink final : public RowSink {
 public:
  // Requires: size > 0.
  explicit BicubicSink(int size);

  // Where the next image goes, size x size pixels row by row, which must stay
  // until its last row is there; mirrored left to right where flip is set.
  // Requires: destination.size() == size * size.
  void Aim(std::span<std::uint32_t> destination, bool flip);

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override;
  void Filled() override;

  // Whether all of the destination is written, as it is once the image's last
  // row was put.
  [[nodiscard]] bool is_complete() const { return out_y_ == size_; }

  // Time spent on this image, since Aim().
  [[nodiscard]] std::chrono::steady_clock::duration busy() const {
    return busy_;
  }

 private:
  void Take(std::uint8_t* row);
  void WriteRow(const BicubicTaps& taps);

  int size_;
  std::span<std::uint32_t> destination_;
  bool flip_ = false;
  std::chrono::steady_clock::duration busy_{};

  int width_ = 0;
  int height_ = 0;
  ResizeColumns columns_;
  std::vector<std::uint8_t> band_;
  std::ptrdiff_t stride_ = 0;
  int band_rows_ = 0;

  int in_y_ = 0;            // the image's next row
  int out_y_ = 0;           // the destination's next row
  BicubicAxis axis_{1, 1};  // vertical
  BicubicTaps taps_ = {};   // of that row
  std::vector<RowsGroup> rows_;
};

}  // namespace infeed
