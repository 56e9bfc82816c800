#pragma once

#include <cstdint>

#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// Estimates how many pixels outside a window must be entropy decoded to decode
// the window. Counts pixels of the image at 1 / denominator of its size, to
// which the window refers. Without an index these are all pixels before the end
// of the window's last row, with a partial index all from the first row that it
// does not cover. In covered rows they are those in the window's rows of MCUs,
// from the last entry before the window on. An estimate, as it does not
// consider which whole MCUs the decoder skips.
[[nodiscard]] std::int64_t OutsidePixels(const JpegInfo& image,
                                         const Window& window, int denominator,
                                         const JpegSeekIndex* index);

}  // namespace infeed
