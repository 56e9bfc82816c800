#pragma once

#include <optional>

#include "base/random.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// The window that torchvision's RandomErasing chooses in an image of side x
// side: with this probability one of 0.02 to 0.33 of its area, height to width
// between 0.3 and 3.3 (even in the logarithm), anywhere; smaller than the image
// both ways, which is tried for ten times. Takes Real() for the probability,
// then for each try Real() for the area and Real() for the ratio, then
// Below(side - height + 1) and Below(side - width + 1) for its first pixel.
[[nodiscard]] std::optional<Window> DrawErasing(float probability, int side,
                                                RandomSource& random);

}  // namespace infeed
