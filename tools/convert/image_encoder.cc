#include "tools/convert/image_encoder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/exif.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/resize/area.h"
#include "records/bytes/plain_text.h"
#include "records/files/unreadable_format.h"
#include "tools/cli/image_format.h"
#include "tools/images/raw_images.h"

namespace infeed {
namespace {

constexpr int kCmykComponents = 4;
constexpr int kConvertedQuality = 100;  // as the reference
constexpr int kEighths = 8;
constexpr std::string_view kPng = "PNG";
constexpr int kUpright = 1;     // EXIF's orientations
constexpr int kTransposed = 5;  // and above
constexpr const char* kTurned = "turned as its EXIF data says";
constexpr const char* kTooLarge = "larger than --max_size";

// The size with the same aspect ratio that just covers a rectangle.
StoredSize Covering(const StoredSize& size, const ImageSize& cover) {
  const double scale = std::max(
      static_cast<double>(cover.height) / static_cast<double>(size.height),
      static_cast<double>(cover.width) / static_cast<double>(size.width));
  const auto scaled = [&](std::int64_t side, int least) {
    return std::max<std::int64_t>(
        least, std::llround(static_cast<double>(side) * scale));
  };
  return {scaled(size.width, cover.width), scaled(size.height, cover.height)};
}

StoredSize SizeOf(const RgbImage& image) {
  return {image.width(), image.height()};
}

}  // namespace

ImageEncoder::ImageEncoder(const ImageEncoderOptions& options)
    : options_(options),
      decoder_(options.limits, options.mend ? JpegWarnings::kTolerated
                                            : JpegWarnings::kErrors) {}

EncodedImage ImageEncoder::Encode(std::string file) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  if (bytes.empty()) {
    throw DataError("the file is empty");
  }
  const int orientation = ReadExifOrientation(bytes);
  const int turn = options_.exif_rotate ? orientation : kUpright;
  EncodedImage encoded = DetectImageFormat(bytes) == ImageFormat::kJpeg
                             ? EncodeJpegFile(std::move(file), turn)
                             : EncodeOtherFile(std::move(file), turn);
  encoded.ignored_orientation = turn == orientation ? kUpright : orientation;
  return encoded;
}

EncodedImage ImageEncoder::EncodeOtherFile(std::string file, int turn) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  if (const std::string_view format = FindUnreadableFormat(bytes);
      !format.empty()) {
    throw DataError(UnreadableReason(format));
  }
  DecodeOtherImage(bytes, options_.limits.max_pixels, image_);
  Turn(turn);
  const StoredSize size = SizeOf(image_);
  if (options_.format == ImageForm::kPixels) {
    return Packed(size);
  }
  const bool is_png = DetectImageFormat(bytes) == ImageFormat::kPng;
  const bool is_too_large = IsTooLarge(size);
  EncodedImage encoded;
  if (is_png && options_.keep_png && !is_too_large) {
    encoded.bytes =
        turn == kUpright ? std::move(file) : EncodePng(image_.view());
    encoded.format = kPng;
    encoded.reencoded = turn == kUpright ? "" : kTurned;
  } else {
    Fit(size);
    encoded.bytes = EncodeJpeg(
        image_.view(),
        {.quality = is_too_large ? options_.quality : kConvertedQuality});
    encoded.reencoded = is_too_large ? kTooLarge
                        : is_png     ? kLossyPng
                                     : "not a JPEG";
  }
  encoded.width = image_.width();
  encoded.height = image_.height();
  return encoded;
}

EncodedImage ImageEncoder::EncodeRaw(const RawImages& raw,
                                     const ImageFile& image) {
  raw.Read(image, image_);
  const StoredSize size = SizeOf(image_);
  if (options_.format == ImageForm::kPixels) {
    return Packed(size);
  }
  Fit(size);
  return {.bytes = EncodePng(image_.view()),
          .width = image_.width(),
          .height = image_.height(),
          .format = kPng};
}

EncodedImage ImageEncoder::EncodeJpegFile(std::string file, int turn) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  const JpegInfo info = decoder_.ReadHeader(bytes);
  StoredSize size = {info.width, info.height};
  const bool is_cmyk = info.components == kCmykComponents;
  const bool is_changed = turn != kUpright || IsTooLarge(size);
  const bool is_packed = options_.format == ImageForm::kPixels;
  if (options_.verify || options_.mend || is_cmyk || is_changed || is_packed) {
    DecodeJpeg(info);
  }
  const bool is_damaged = options_.mend && !decoder_.warning().empty();
  if (!is_cmyk && !is_changed && !is_packed && !is_damaged) {
    return {
        .bytes = std::move(file), .width = info.width, .height = info.height};
  }
  Turn(turn);
  if (turn >= kTransposed) {
    std::swap(size.width, size.height);
  }
  EncodedImage encoded;
  if (is_packed) {
    encoded = Packed(size);
  } else {
    Fit(size);
    encoded.bytes =
        EncodeJpeg(image_.view(),
                   {.quality = is_changed || is_damaged ? options_.quality
                                                        : kConvertedQuality});
    encoded.width = image_.width();
    encoded.height = image_.height();
    encoded.reencoded = is_cmyk            ? "CMYK"
                        : turn != kUpright ? kTurned
                                           : kTooLarge;
  }
  if (is_damaged) {
    encoded.reencoded = std::string(kDamaged) + decoder_.warning();
    encoded.mended = true;
  }
  return encoded;
}

// Decodes to at least as many pixels as the final size needs.
void ImageEncoder::DecodeJpeg(const JpegInfo& info) {
  const ImageSize wanted = Cover({info.width, info.height});
  const auto is_enough = [&](int eighths) {
    return std::int64_t{info.height} * eighths >=
               std::int64_t{wanted.height} * kEighths &&
           std::int64_t{info.width} * eighths >=
               std::int64_t{wanted.width} * kEighths;
  };
  int eighths = 1;
  while (eighths < kEighths && !is_enough(eighths)) {
    ++eighths;
  }
  decoder_.DecodeScaled(eighths, image_);
}

void ImageEncoder::Turn(int orientation) {
  if (orientation != kUpright) {
    TurnUpright(image_.view(), orientation, other_);
    std::swap(image_, other_);
  }
}

bool ImageEncoder::IsTooLarge(const StoredSize& size) const {
  return options_.max_size > 0 && options_.format == ImageForm::kJpeg &&
         std::min(size.width, size.height) > options_.max_size;
}

ImageSize ImageEncoder::Cover(const StoredSize& size) const {
  if (options_.format == ImageForm::kPixels) {
    return options_.image_size;
  }
  return IsTooLarge(size) ? options_.max_size
                          : static_cast<int>(std::min(size.width, size.height));
}

// Resizes image_, which has `size` or was decoded to a smaller one, to its
// final size.
void ImageEncoder::Fit(const StoredSize& size) {
  const StoredSize fitted = Covering(size, Cover(size));
  if (fitted.width != image_.width() || fitted.height != image_.height()) {
    ResizeArea(image_.view(), static_cast<int>(fitted.width),
               static_cast<int>(fitted.height), other_);
    std::swap(image_, other_);
  }
}

EncodedImage ImageEncoder::Packed(const StoredSize& size) {
  static_assert(std::endian::native == std::endian::little,
                "packed pixels are stored as they are in memory");
  Fit(size);
  const auto [height, width] = options_.image_size;
  std::vector<std::uint32_t> pixels(options_.image_size.pixels());
  PackImage(image_.view({.y = (image_.height() - height) / 2,
                         .x = (image_.width() - width) / 2,
                         .height = height,
                         .width = width}),
            false, pixels);
  EncodedImage encoded = {.width = width, .height = height, .format = "packed"};
  encoded.bytes = AsChars(std::as_bytes(std::span(pixels)));
  return encoded;
}

}  // namespace infeed
