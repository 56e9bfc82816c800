#pragma once

namespace infeed {

// Which formula makes an output pixel of an image's pixels.
enum class ResizeKernel {
  kBicubic,    // TensorFlow's legacy one (resize.h)
  kBilinear,   // two samples each way, whatever the scale (resize.h)
  kAntialias,  // a triangle as wide as the scale: Pillow's (antialias.h)
};

// One side of a resize that makes out_size samples of in_size, where only a
// part is computed: the outputs from out_first on, of a source whose samples
// are there from in_first on.
struct ResizeSide {
  int in_size = 1;
  int out_size = 1;
  int out_first = 0;
  int in_first = 0;

  friend bool operator==(const ResizeSide&, const ResizeSide&) = default;
};

struct ResizeSides {
  ResizeSide vertical;
  ResizeSide horizontal;
};

// Samples of a side: count from first on.
struct ResizeSupport {
  int first = 0;
  int count = 0;
};

// Which samples of the source `count` outputs from side.out_first on are made
// of; side.in_first does not matter. Requires: sizes > 0, and the outputs are
// among out_size.
[[nodiscard]] ResizeSupport SupportOf(ResizeKernel kernel,
                                      const ResizeSide& side, int count);

}  // namespace infeed
