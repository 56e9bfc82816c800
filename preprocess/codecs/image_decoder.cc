#include "preprocess/codecs/image_decoder.h"

#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "base/error.h"
#include "preprocess/codecs/codec_plugin.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/codecs/pnm_codec.h"
#include "preprocess/codecs/stored_size.h"
#include "preprocess/codecs/webp_codec.h"

namespace infeed {
namespace {

void CheckSize(std::span<const std::byte> bytes, std::int64_t max_pixels) {
  const std::optional<StoredSize> size = ReadStoredSize(bytes);
  if (!size) {
    throw DataError(
        "not an image of a known format (JPEG, PNG, BMP, WebP, TIFF, "
        "JPEG 2000, PNM)");
  }
  CheckPixelLimit(*size, max_pixels, "an image");
  if (bytes.size() > std::numeric_limits<int>::max()) {
    throw DataError("an image of " + std::to_string(bytes.size()) +
                    " bytes is over the limit of 2 GB");
  }
}

}  // namespace

bool IsJpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0xFF} &&
         bytes[1] == std::byte{0xD8};
}

void DecodeOtherImage(std::span<const std::byte> bytes, std::int64_t max_pixels,
                      RgbImage& image) {
  CheckSize(bytes, max_pixels);
  if (IsPng(bytes)) {  // In OpenCV libpng would print.
    DecodePng(bytes, image);
  } else if (IsWebp(bytes)) {
    DecodeWebp(bytes, image);
  } else if (const std::optional<PnmHeader> pnm = ReadPnmHeader(bytes)) {
    DecodePnm(bytes, *pnm, image);
  } else {
    DecodeByPlugin(bytes, image);
  }
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
