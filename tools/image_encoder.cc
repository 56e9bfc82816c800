#include "tools/image_encoder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "preprocess/opencv_image.h"

namespace infeed {
namespace {

constexpr int kCmykComponents = 4;

bool IsJpeg(std::span<const std::byte> file) {
  constexpr std::array<std::byte, 3> kStart = {std::byte{0xff}, std::byte{0xd8},
                                               std::byte{0xff}};
  return file.size() >= kStart.size() &&
         std::equal(kStart.begin(), kStart.end(), file.begin());
}

}  // namespace

ImageEncoder::ImageEncoder(const ImageEncoderOptions& options)
    : options_(options), decoder_(options.limits) {}

EncodedImage ImageEncoder::Encode(std::string file) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  if (bytes.empty()) {
    throw DataError("the file is empty");
  }
  if (!IsJpeg(bytes)) {
    DecodeOtherImage(bytes, options_.limits.max_pixels, image_);
    return Reencode("not a JPEG");
  }
  const JpegInfo info = decoder_.ReadHeader(bytes);
  const bool is_cmyk = info.components == kCmykComponents;
  if (options_.verify || is_cmyk) {
    decoder_.Decode(image_);
  }
  return is_cmyk ? Reencode("CMYK")
                 : EncodedImage{std::move(file), info.width, info.height, {}};
}

// As the reference: quality 100, 4:2:0.
EncodedImage ImageEncoder::Reencode(std::string why) {
  return {EncodeJpeg(image_.view()), image_.width(), image_.height(),
          std::move(why)};
}

}  // namespace infeed
