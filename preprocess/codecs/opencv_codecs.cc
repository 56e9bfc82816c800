#include "preprocess/codecs/opencv_codecs.h"

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"

namespace infeed {
namespace {

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

void DecodeByOpencv(std::span<const std::byte> bytes, RgbImage& image) {
  const cv::Mat decoded = Read(bytes);
  if (decoded.empty()) {
    throw DataError("OpenCV cannot read the image");
  }
  image.Resize(decoded.cols, decoded.rows);
  for (int y = 0; y < decoded.rows; ++y) {
    const auto* source = decoded.ptr<std::uint8_t>(y);  // B G R
    std::uint8_t* destination = image.row(y);
    for (int x = 0; x < decoded.cols; ++x, source += 3, destination += 3) {
      destination[0] = source[2];
      destination[1] = source[1];
      destination[2] = source[0];
    }
  }
}

}  // namespace infeed
