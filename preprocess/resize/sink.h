#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "preprocess/pixels/packing_sink.h"
#include "preprocess/resize/side.h"

namespace infeed {

// Resizes an image to a square of packed pixels as its rows arrive, with vector
// code and without holding the image in memory; gives exactly the bytes of
// Resize() with the same kernel (resize.h). Its memory is reused from image to
// image. One thread at a time.
class ResizeSink : public PackingSink {
 public:
  // Sets the destination of the next image, size x size pixels row by row,
  // which must stay valid until the image's last row is written; mirrored left
  // to right if flip is set. Without sides, the square shows the whole image
  // that arrives. With sides, it shows size samples each way of the resize that
  // they describe, and the arriving image must have exactly the samples of
  // SupportOf() for them. Requires: destination.size() == size * size.
  virtual void Aim(std::span<std::uint32_t> destination, bool flip,
                   const std::optional<ResizeSides>& sides) = 0;
  void Aim(std::span<std::uint32_t> destination, bool flip) {
    Aim(destination, flip, std::nullopt);
  }
};

// Returns the sink of a kernel. Requires: size > 0.
[[nodiscard]] std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel,
                                                         int size);

}  // namespace infeed
