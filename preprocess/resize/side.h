#pragma once

#include <cstdint>

namespace infeed {

// The formula that computes an output pixel from an image's pixels.
enum class ResizeKernel {
  kBicubic,           // TensorFlow's legacy one (resize.h)
  kBilinear,          // two samples each way, whatever the scale (resize.h)
  kAntialias,         // a triangle as wide as the scale: Pillow's (antialias.h)
  kAntialiasBicubic,  // a cubic twice as wide: Pillow's too (antialias.h)
};

// Whether the kernel is one of antialias.h; the others have four taps.
[[nodiscard]] constexpr bool IsAntialiased(ResizeKernel kernel) {
  return kernel == ResizeKernel::kAntialias ||
         kernel == ResizeKernel::kAntialiasBicubic;
}

// One side of a resize from in_size to out_size samples of which only a part is
// computed: the outputs from out_first on, from source samples that are
// available from in_first on.
struct ResizeSide {
  int in_size = 1;
  int out_size = 1;
  int out_first = 0;
  int in_first = 0;
  int margin = 0;  // of the destination: pixels before the first output

  friend bool operator==(const ResizeSide&, const ResizeSide&) = default;
};

struct ResizeSides {
  ResizeSide vertical;
  ResizeSide horizontal;
  std::uint32_t fill = 0;  // of the destination's other pixels
};

// `count` samples or outputs of a side, starting at first.
struct ResizeSpan {
  int first = 0;
  int count = 0;
};

// Where a side's outputs from out_first on are in a destination of `length`
// pixels: from side.margin on, as many as there are, or as fit.
[[nodiscard]] ResizeSpan PlaceOfOutputs(const ResizeSide& side, int length);

// Returns the source samples needed for `count` outputs from side.out_first on;
// ignores side.in_first. Requires: sizes > 0, and the outputs are within
// out_size.
[[nodiscard]] ResizeSpan SupportOf(ResizeKernel kernel, const ResizeSide& side,
                                   int count);

}  // namespace infeed
