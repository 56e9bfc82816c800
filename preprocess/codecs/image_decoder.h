#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"

namespace infeed {

// Whether bytes begin like a JPEG.
[[nodiscard]] bool IsJpeg(std::span<const std::byte> bytes);

// Decodes an image that is not a JPEG, to RGB: PNG (png_codec.h), WebP
// (webp_codec.h), PNM (pnm_codec.h); BMP, TIFF and JPEG 2000 through OpenCV, if
// the build has its image codecs. Samples of any depth are scaled to 8 bits by
// their own maximum. Gray is copied to all channels, alpha dropped, EXIF
// orientation ignored. Throws DataError for other formats (their sizes are not
// known before OpenCV allocates), when the header claims more than max_pixels,
// and when the image cannot be decoded.
void DecodeOtherImage(std::span<const std::byte> bytes, std::int64_t max_pixels,
                      RgbImage& image);

// Decodes whole images: JPEG and those of DecodeOtherImage(), detected by
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
