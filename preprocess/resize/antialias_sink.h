#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "preprocess/pixels/row_band.h"
#include "preprocess/resize/antialias.h"
#include "preprocess/resize/antialias_columns.h"
#include "preprocess/resize/antialias_kernels.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// The ResizeSink of the antialiased kernel. Rows come in pairs, 2n and 2n + 1:
// a pair is resized to the output's width when both rows have arrived, and
// waits in a ring of pairs that is large enough for an output row's taps. Owns
// a band of rows and that ring. One thread at a time.
class AntialiasSink final : public ResizeSink {
 public:
  // Requires: size > 0.
  explicit AntialiasSink(int size);

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
  // Processes a pair of rows, and writes the output rows that this completes.
  // If the image ends with the upper row, the lower row is the upper row again.
  void TakePair(const std::uint8_t* upper, const std::uint8_t* lower);
  void WriteRow();
  void AimRow();
  [[nodiscard]] RowPairGroup* RingPair(int pair);

  int size_;
  int groups_;  // in a row between the passes
  std::span<std::uint32_t> destination_;
  bool flip_ = false;
  std::optional<ResizeSides> sides_;
  std::chrono::steady_clock::duration busy_{};

  int width_ = 0;
  int height_ = 0;
  AntialiasColumns columns_;
  RowBand band_;
  // A band's last row, if it waits for its partner.
  std::vector<std::uint8_t> upper_;

  int in_y_ = 0;     // next row of the image
  int out_y_ = 0;    // the destination's next row
  ResizeSide side_;  // the vertical one
  AntialiasAxis axis_{1, 1};
  AntialiasTaps taps_ = {};  // of the destination's next row
  int ring_pairs_ = 0;
  std::vector<RowPairGroup> ring_;
  std::vector<WeightedPair> weighted_;  // of one output row
};

}  // namespace infeed
