#include "preprocess/codecs/image_decoder.h"

#include <tuple>

#include "preprocess/codecs/opencv_image.h"

namespace infeed {

bool IsJpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0xFF} &&
         bytes[1] == std::byte{0xD8};
}

ImageDecoder::ImageDecoder(const JpegLimits& limits)
    : limits_(limits), jpeg_(limits) {}

void ImageDecoder::Decode(std::span<const std::byte> encoded, RgbImage& image) {
  if (IsJpeg(encoded)) {
    std::ignore = jpeg_.ReadHeader(encoded);
    jpeg_.Decode(image);
  } else {
    DecodeOtherImage(encoded, limits_.max_pixels, image);
  }
}

}  // namespace infeed
