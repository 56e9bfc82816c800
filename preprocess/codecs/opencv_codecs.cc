#include <limits>
#include <optional>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"
#include "preprocess/codecs/image_size.h"
#include "preprocess/codecs/opencv_image.h"
#include "preprocess/codecs/png_image.h"

namespace infeed {
namespace {

// Converts between R G B and OpenCV's B G R, in either direction.
void SwapRedAndBlue(const std::uint8_t* source, int width,
                    std::uint8_t* destination) {
  for (int x = 0; x < width; ++x, source += 3, destination += 3) {
    destination[0] = source[2];
    destination[1] = source[1];
    destination[2] = source[0];
  }
}

void CheckSize(std::span<const std::byte> bytes, std::int64_t max_pixels) {
  const std::optional<ImageSize> size = ReadImageSize(bytes);
  if (!size) {
    throw DataError(
        "not an image of a known format (JPEG, PNG, BMP, WebP, TIFF, "
        "JPEG 2000, PNM)");
  }
  // Divides, as the product of 32-bit sizes may need 64 bits.
  if (size->width > max_pixels / size->height) {
    throw DataError("an image of " + std::to_string(size->width) + "x" +
                    std::to_string(size->height) +
                    " pixels is over the limit of " +
                    std::to_string(max_pixels));
  }
  if (bytes.size() > std::numeric_limits<int>::max()) {
    throw DataError("an image of " + std::to_string(bytes.size()) +
                    " bytes is over the limit of 2 GB");
  }
}

// OpenCV would print its exceptions and warnings on stderr.
void SilenceOpencv() {
  [[maybe_unused]] static const auto before =
      cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}

cv::Mat Read(std::span<const std::byte> bytes) {
  SilenceOpencv();
  // OpenCV only reads from this.
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U,
                        const_cast<std::byte*>(bytes.data()));
  try {
    return cv::imdecode(encoded,
                        cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& error) {
    throw DataError("OpenCV cannot read the image: " + error.err);
  }
}

}  // namespace

void DecodeOtherImage(std::span<const std::byte> bytes, std::int64_t max_pixels,
                      RgbImage& image) {
  CheckSize(bytes, max_pixels);
  if (IsPng(bytes)) {  // In OpenCV libpng would print.
    DecodePng(bytes, image);
    return;
  }
  const cv::Mat decoded = Read(bytes);
  if (decoded.empty()) {
    throw DataError("OpenCV cannot read the image");
  }
  image.Resize(decoded.cols, decoded.rows);
  for (int y = 0; y < decoded.rows; ++y) {
    SwapRedAndBlue(decoded.ptr<std::uint8_t>(y), decoded.cols, image.row(y));
  }
}

std::string EncodePng(const RgbView& image) {
  Check(image.width > 0 && image.height > 0, "an image has pixels");
  cv::Mat swapped(image.height, image.width, CV_8UC3);
  for (int y = 0; y < image.height; ++y) {
    SwapRedAndBlue(image.row(y), image.width, swapped.ptr<std::uint8_t>(y));
  }
  std::vector<std::uint8_t> encoded;
  Check(cv::imencode(".png", swapped, encoded), "OpenCV writes PNGs");
  return {encoded.begin(), encoded.end()};
}

}  // namespace infeed
