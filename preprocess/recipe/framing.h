#pragma once

#include "base/random.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/options.h"
#include "preprocess/resize/side.h"

namespace infeed {

// The part of an image that an output shows: a window of the image is resized
// to height x width pixels, and the output is a part of the result whose first
// pixel is at (y, x). Below 0: the result begins that many pixels inside the
// output, after a margin.
struct Framing {
  Window window;
  int height = 0;
  int width = 0;
  int y = 0;
  int x = 0;

  friend bool operator==(const Framing&, const Framing&) = default;
};

// Returns the framing that resizes the whole window to the output's size.
[[nodiscard]] Framing WholeWindow(const Window& window, const ImageSize& size);

// The pixels to decode for a framing, and how they are resized.
struct DecodePlan {
  int denominator = 1;  // the image is decoded at 1 / denominator of its size
  Window window;        // of the image at that size
  ResizeSides sides;
};

// Plans an output of that size. is_scaled: decode large images at a reduced
// size (ScaleDenominator()). Requires: each way the output shows a part of the
// result.
[[nodiscard]] DecodePlan PlanDecode(const Framing& framing, ResizeKernel kernel,
                                    const ImageSize& size, bool is_scaled);

// The largest denominator (8, 4, 2 or 1) at which the decoded window still has
// at least as many pixels in each direction as its resized output.
[[nodiscard]] int ScaleDenominator(const Framing& framing);

// A window of the image, in the image decoded at 1 / denominator of its size,
// sides rounded up: its first pixel is rounded to the nearest, and a partial
// pixel at its end is dropped. Requires: both sides of the window have at least
// denominator pixels.
[[nodiscard]] Window ScaledWindow(const Window& window, int denominator);

// The largest size at which the whole window fits, rounded half to even:
// Ultralytics' LetterBox.
[[nodiscard]] Framing FitWindow(const Window& window, const ImageSize& output,
                                FitMargin margin);

// torchvision's ScaleJitter and its reference scripts' FixedSizeCrop: draws the
// factor, and, if the window becomes larger than the output, one number for the
// output's place both ways. Requires: fit.is_scaled().
[[nodiscard]] Framing JitterScale(const Window& window, const ImageSize& output,
                                  const FitOptions& fit, RandomSource& random);

}  // namespace infeed
