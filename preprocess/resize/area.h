#pragma once

#include "preprocess/pixels/image.h"

namespace infeed {

// Resizes an image to width x height pixels: to a smaller size by the mean of
// the area that a pixel covers; bicubic if a side gets larger (enlarge.h). The
// bytes are those of OpenCV's cv::resize on x86-64 with INTER_AREA and
// INTER_CUBIC. Requires: all sizes > 0.
void ResizeArea(const RgbView& source, int width, int height, RgbImage& image);

}  // namespace infeed
