#include "preprocess/opencv_image.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/error.h"

namespace infeed {

void ResizeArea(const RgbView& source, int width, int height, RgbImage& image) {
  image.Resize(width, height);
  // OpenCV only reads through the first.
  const cv::Mat from(source.height, source.width, CV_8UC3,
                     const_cast<std::uint8_t*>(source.pixels),
                     static_cast<std::size_t>(source.stride));
  cv::Mat to(height, width, CV_8UC3, image.row(0));
  const bool larger = width > source.width || height > source.height;
  cv::resize(from, to, to.size(), 0, 0,
             larger ? cv::INTER_CUBIC : cv::INTER_AREA);
  Check(to.data == image.row(0), "OpenCV resizes in place");
}

}  // namespace infeed
