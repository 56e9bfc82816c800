#pragma once

#include <optional>

#include "base/random.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// Draws the window that torchvision's RandomErasing erases in an image of side
// x side pixels; nullopt: none. With this probability it has 0.02 to 0.33 of
// the image's area, a height-to-width ratio of 0.3 to 3.3 (log-uniform), and a
// uniform place. It must be smaller than the image both ways: at most ten
// tries. Draws Real() for the probability, then for each try Real() for the
// area and Real() for the ratio, then Below(side - height + 1) and Below(side -
// width + 1) for the first pixel.
[[nodiscard]] std::optional<Window> DrawErasing(float probability, int side,
                                                RandomSource& random);

}  // namespace infeed
