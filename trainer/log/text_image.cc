#include "trainer/log/text_image.h"

#include <algorithm>
#include <string>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace infeed {

RgbImage TextImage(std::string_view text) {
  constexpr double kScale = 0.4;
  constexpr int kBaseline = 10;
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;  // a character of UTF-8
    if (!continues) {
      ascii += byte >= 0x20 && byte < 0x7F ? c : '?';
    }
  }
  const int width =
      cv::getTextSize(ascii, cv::FONT_HERSHEY_SIMPLEX, kScale, 1, nullptr)
          .width;
  RgbImage image;
  image.Resize(std::max(1, width), kTextHeight);
  cv::Mat to(image.height(), image.width(), CV_8UC3, image.row(0));
  to.setTo(cv::Scalar::all(255));
  cv::putText(to, ascii, {0, kBaseline}, cv::FONT_HERSHEY_SIMPLEX, kScale,
              cv::Scalar::all(0), 1, cv::LINE_AA);
  return image;
}

}  // namespace infeed
