#pragma once

#include <cstdint>
#include <vector>

#include "preprocess/pixels/image_size.h"
#include "preprocess/resize/antialias.h"
#include "preprocess/resize/antialias_columns.h"
#include "preprocess/resize/antialias_kernels.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// The ResizeSink of the antialiased kernels. Rows come in pairs, 2n and 2n + 1:
// a pair is resized to the output's width when both rows have arrived, and
// waits in a ring of pairs that is large enough for an output row's taps. Owns
// that ring. One thread at a time.
class AntialiasSink final : public ResizeSink {
 public:
  // Requires: IsAntialiased(kernel), and both sides > 0.
  AntialiasSink(ResizeKernel kernel, const ImageSize& size);

  void Begin(int width, int height) override;
  void Filled() override;

 private:
  // Processes a pair of rows, and writes the output rows that this completes.
  // If the image ends with the upper row, the lower row is the upper row again.
  void TakePair(const std::uint8_t* upper, const std::uint8_t* lower);
  void NextTaps();
  void WriteRow();
  [[nodiscard]] RowPairGroup* RingPair(int pair);

  int groups_;  // in a row between the passes
  AntialiasColumns taps_of_columns_;
  // A band's last row, if it waits for its partner.
  std::vector<std::uint8_t> upper_;

  AntialiasAxis axis_;       // the vertical one
  AntialiasTaps taps_ = {};  // of the destination's next row
  int ring_pairs_ = 0;
  std::vector<RowPairGroup> ring_;
  std::vector<WeightedPair> weighted_;  // of one output row
};

}  // namespace infeed
