#include "base/error.h"
#include "preprocess/codecs/opencv_image.h"
#include "preprocess/codecs/stored_png.h"

// Replaces opencv_codecs.cc if OpenCV has no image codecs.
namespace infeed {

void DecodeOtherImage(std::span<const std::byte> /*bytes*/,
                      std::int64_t /*max_pixels*/, RgbImage& /*image*/) {
  throw DataError("not a JPEG, and this build reads no other images");
}

std::string EncodePng(const RgbView& image) { return StoredPng(image); }

}  // namespace infeed
