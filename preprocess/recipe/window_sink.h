#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "preprocess/pixels/packing_sink.h"
#include "preprocess/pixels/row_band.h"

namespace infeed {

// Packs a window as it is, for who resizes it later. Owns a band of rows. One
// thread at a time.
class WindowSink final : public PackingSink {
 public:
  // Where the next window goes, row by row; must stay until its last row is
  // there. Requires: destination.size() == its width * height.
  void Aim(std::span<std::uint32_t> destination);

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override;
  void Filled() override;

  [[nodiscard]] bool is_complete() const override { return left_.empty(); }
  [[nodiscard]] std::chrono::steady_clock::duration busy() const override {
    return busy_;
  }

 private:
  std::span<std::uint32_t> destination_;
  std::span<std::uint32_t> left_;  // of it: what is to be written yet
  std::chrono::steady_clock::duration busy_{};
  int width_ = 0;
  RowBand band_;
  RgbRows rows_;  // the last that were asked for
};

}  // namespace infeed
