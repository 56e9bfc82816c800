#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "preprocess/pixels/packing_sink.h"
#include "preprocess/resize/side.h"

namespace infeed {

// Resizes an image to a square of packed pixels while its rows arrive, by
// vector code and without the image ever being in memory: exactly the bytes of
// Resize() of the same kernel (resize.h). Its memory is kept from image to
// image. One thread at a time.
class ResizeSink : public PackingSink {
 public:
  // Where the next image goes, size x size pixels row by row, which must stay
  // until its last row is there; mirrored left to right where flip is set.
  // Without sides the square is all that arrives; with them it is size samples
  // each way of the resize that they tell, and what arrives must be the
  // SupportOf() these. Requires: destination.size() == size * size.
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
