#include "tools/image_encoder.h"

#include <algorithm>
#include <array>

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

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ImageEncoder::ImageEncoder(const ImageEncoderOptions& options)
    : options_(options), decoder_(options.limits) {}

EncodedImage ImageEncoder::Encode(std::span<const std::byte> file) {
  if (file.empty()) {
    throw DataError("the file is empty");
  }
  if (!IsJpeg(file)) {
    DecodeOtherImage(file, options_.limits.max_pixels, image_);
    return Reencode();
  }
  const JpegInfo info = decoder_.ReadHeader(file);
  const bool is_cmyk = info.components == kCmykComponents;
  if (options_.verify || is_cmyk) {
    decoder_.Decode(image_);
  }
  return is_cmyk ? Reencode()
                 : EncodedImage{AsText(file), info.width, info.height};
}

EncodedImage ImageEncoder::Reencode() {
  buffer_ = EncodeJpeg(image_.view());  // as the reference: quality 100, 4:2:0
  return {buffer_, image_.width(), image_.height(), true};
}

}  // namespace infeed
