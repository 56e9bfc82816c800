#include "bench/decoder/rivals.h"

#include <cstdio>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace infeed {

std::string LibjpegVersion() {
  constexpr int kNumber = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005 is 2.1.5
  return "libjpeg-turbo " + std::to_string(kNumber / 1000000) + "." +
         std::to_string(kNumber / 1000 % 1000) + "." +
         std::to_string(kNumber % 1000);
}

std::string OpenCvVersion() { return std::string("OpenCV ") + CV_VERSION; }

struct OpenCvResizer::State {
  cv::Mat resized;
};

OpenCvResizer::OpenCvResizer(int size) : state_(std::make_unique<State>()) {
  cv::setNumThreads(1);
  state_->resized.create(size, size, CV_8UC3);
}

OpenCvResizer::~OpenCvResizer() = default;

RgbView OpenCvResizer::Resize(const RgbView& source) {
  cv::Mat& resized = state_->resized;
  // OpenCV only reads this memory.
  const cv::Mat from(source.height, source.width, CV_8UC3,
                     const_cast<std::uint8_t*>(source.pixels),
                     static_cast<std::size_t>(source.stride));
  cv::resize(from, resized, resized.size(), 0, 0, cv::INTER_CUBIC);
  return {resized.data, resized.cols, resized.rows,
          static_cast<std::ptrdiff_t>(resized.step)};
}

}  // namespace infeed
