#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "preprocess/pixels/row_band.h"
#include "preprocess/pixels/row_sink.h"

namespace infeed {

// Packs a window without resizing it, for a device that resizes it later. Owns
// a band of rows. One thread at a time.
class WindowSink final : public RowSink {
 public:
  // Sets the destination of the next window, row by row; it must stay valid
  // until the window's last row is written. Requires: destination.size() == the
  // window's width * height.
  void Aim(std::span<std::uint32_t> destination);

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override;
  void Filled() override;

  // Whether all pixels are written, as after the window's last row.
  [[nodiscard]] bool is_complete() const { return left_.empty(); }
  // Time spent on this window.
  [[nodiscard]] std::chrono::steady_clock::duration busy() const {
    return busy_;
  }

 private:
  std::span<std::uint32_t> destination_;
  std::span<std::uint32_t> left_;  // the part not yet written
  std::chrono::steady_clock::duration busy_{};
  int width_ = 0;
  RowBand band_;
  RgbRows rows_;  // of the last Next()
};

}  // namespace infeed
