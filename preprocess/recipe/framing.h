#pragma once

#include "preprocess/pixels/image.h"
#include "preprocess/resize/side.h"

namespace infeed {

// What of an image an output shows: a window of it is resized to height x width
// pixels, and the output is a square of these whose first pixel is at (y, x).
struct Framing {
  Window window;
  int height = 0;
  int width = 0;
  int y = 0;
  int x = 0;

  friend bool operator==(const Framing&, const Framing&) = default;
};

// Returns the framing that makes a square of the whole window.
[[nodiscard]] Framing WholeWindow(const Window& window, int size);

// Which pixels have to be there for a framing, and how they are resized.
struct DecodePlan {
  int denominator = 1;  // the image is decoded at 1 / denominator of its size
  Window window;        // of the image at that size
  ResizeSides sides;
};

// Plans an output of size x size pixels. is_scaled: large images are decoded
// smaller (ScaleDenominator()). Requires: the output lies in the framing.
[[nodiscard]] DecodePlan PlanDecode(const Framing& framing, ResizeKernel kernel,
                                    int size, bool is_scaled);

// Whether an output of size x size pixels is what a resize makes of exactly the
// pixels that the plan decodes: neither part of a larger output, nor made of
// some of them alone, as the kernels of four taps make it of windows more than
// three times as large.
[[nodiscard]] bool IsWholeResize(const DecodePlan& plan, int size);

// The most that an image may be decoded smaller, 8, 4, 2 or 1 times, with as
// many pixels left in the window as the framing makes of it, both ways.
[[nodiscard]] int ScaleDenominator(const Framing& framing);

// A window in the image decoded to 1 / denominator of its size, sides rounded
// up: its first pixel is the nearest, and parts of a pixel at its end are left
// out. Requires: the window has denominator pixels both ways.
[[nodiscard]] Window ScaledWindow(const Window& window, int denominator);

}  // namespace infeed
