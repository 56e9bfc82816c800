// The plugin libinfeed_codecs.so: what codec_plugin.h loads.

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include "preprocess/codecs/codec_plugin.h"

namespace infeed {
namespace {

void Decode(std::span<const std::byte> bytes, PluginImage& image) {
  // OpenCV would print its exceptions and warnings on stderr.
  [[maybe_unused]] static const auto before =
      cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  // OpenCV only reads from this.
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U,
                        const_cast<std::byte*>(bytes.data()));
  const bool is_deep = image.max_value > 0;
  cv::Mat decoded =
      cv::imdecode(encoded, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION |
                                (is_deep ? cv::IMREAD_ANYDEPTH : 0));
  if (decoded.empty() || decoded.type() != (is_deep ? CV_16UC3 : CV_8UC3)) {
    image.error = "OpenCV cannot read the image";
    return;
  }
  if (is_deep) {  // Rounds, and takes what is above for white.
    decoded.convertTo(decoded, CV_8U, 255.0 / image.max_value);
  }
  image.width = decoded.cols;
  image.height = decoded.rows;
  const std::size_t row = static_cast<std::size_t>(decoded.cols) * 3;
  for (int y = 0; y < decoded.rows; ++y) {
    image.bgr.insert(image.bgr.end(), decoded.ptr(y), decoded.ptr(y) + row);
  }
}

}  // namespace
}  // namespace infeed

// Nothing is thrown into a program whose C++ may be another one's.
extern "C" void infeed_decode_by_opencv(std::span<const std::byte> bytes,
                                        infeed::PluginImage& image) try {
  infeed::Decode(bytes, image);
} catch (const cv::Exception& error) {
  image.error = "OpenCV cannot read the image: " + error.err;
} catch (const std::exception& error) {
  image.error = error.what();
}
