#pragma once

#include <vector>

#include "base/random.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// Windows of an image for testing a decoder: the whole image first, then in
// turns windows of any place and size, training crops, windows at the image's
// edges with odd sides, and windows of a few pixels. Equal arguments give equal
// windows. Requires: all > 0.
[[nodiscard]] std::vector<Window> RandomWindows(int height, int width,
                                                int count,
                                                const SampleKey& key);

}  // namespace infeed
