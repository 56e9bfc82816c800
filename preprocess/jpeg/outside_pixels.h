#pragma once

#include <cstdint>

#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// About how many pixels outside a window of a JPEG have to be decoded, as far
// as its entropy code, for the window's; all in pixels of the image at 1 /
// denominator of its size, where the window is. Without an index that is
// whatever precedes the window's last row. With one it is what shares rows of
// MCUs with the window, from the last entry in front of it on. An estimate:
// what the decoder passes over by whole MCUs is not known here.
[[nodiscard]] std::int64_t OutsidePixels(const JpegInfo& image,
                                         const Window& window, int denominator,
                                         const JpegSeekIndex* index);

}  // namespace infeed
