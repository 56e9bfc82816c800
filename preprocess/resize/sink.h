#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "preprocess/pixels/row_band.h"
#include "preprocess/pixels/row_sink.h"
#include "preprocess/resize/side.h"

namespace infeed {

// Resizes an image to a square of packed pixels as its rows arrive, with vector
// code and without holding the image in memory; gives exactly the bytes of
// Resize() with the same kernel (resize.h). Its memory is reused from image to
// image. Derived classes implement the kernels. One thread at a time.
class ResizeSink : public RowSink {
 public:
  // Requires: size > 0.
  explicit ResizeSink(int size);

  // Sets the destination of the next image, size x size pixels row by row,
  // which must stay valid until the image's last row is written; mirrored left
  // to right if flip is set. Without sides, the square shows the whole image
  // that arrives. With sides, it shows size samples each way of the resize that
  // they describe, and the arriving image must have exactly the samples of
  // SupportOf() for them. Requires: destination.size() == size * size.
  void Aim(std::span<std::uint32_t> destination, bool flip,
           const std::optional<ResizeSides>& sides = std::nullopt);

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override { return band_.Take(rows); }

  // Whether all pixels are written, as after the image's last row.
  [[nodiscard]] bool is_complete() const { return out_y_ == size_; }

  // Time spent on this image.
  [[nodiscard]] std::chrono::steady_clock::duration busy() const {
    return busy_;
  }

 protected:
  using Clock = std::chrono::steady_clock;

  // The taps of the destination's next row, counted from the image's first row.
  template <typename Axis>
  [[nodiscard]] auto NextTaps(Axis& axis) const {
    auto taps = axis.At(used_.vertical.out_first + out_y_);
    taps.first -= used_.vertical.in_first;
    return taps;
  }

  int size_;
  std::span<std::uint32_t> destination_;
  bool flip_ = false;
  std::optional<ResizeSides> sides_;  // given to Aim()
  Clock::duration busy_{};

  int width_ = 0;
  int height_ = 0;
  ResizeSides used_;  // sides_, or the whole image's
  RowBand band_;      // Begin() of the derived class sets its width
  int in_y_ = 0;      // the image's next row
  int out_y_ = 0;     // the destination's next row
};

// Returns the sink of a kernel. Requires: size > 0.
[[nodiscard]] std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel,
                                                         int size);

}  // namespace infeed
