#pragma once

#include <cstddef>
#include <span>

#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// Whether bytes begin like a JPEG.
[[nodiscard]] bool IsJpeg(std::span<const std::byte> bytes);

// Decodes whole images: JPEG, or PNG and others through OpenCV, detected by
// content. One thread at a time.
class ImageDecoder {
 public:
  // Throws UsageError for a limit below 1.
  explicit ImageDecoder(const JpegLimits& limits = {});

  // Throws DataError; the decoder is usable after that.
  void Decode(std::span<const std::byte> encoded, RgbImage& image);

 private:
  JpegLimits limits_;
  JpegDecoder jpeg_;
};

}  // namespace infeed
