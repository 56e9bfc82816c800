#pragma once

#include <memory>
#include <string>

#include "preprocess/pixels/image.h"

// The libraries with which decoder and resize are compared, and their versions.
namespace infeed {

// "libjpeg-turbo 2.1.5", "OpenCV 4.6.0".
[[nodiscard]] std::string LibjpegVersion();
[[nodiscard]] std::string OpenCvVersion();

// OpenCV's bicubic resize to size x size pixels on one thread. Reuses its
// memory. One thread at a time.
class OpenCvResizer {
 public:
  explicit OpenCvResizer(int size);  // > 0
  ~OpenCvResizer();
  OpenCvResizer(const OpenCvResizer&) = delete;
  OpenCvResizer& operator=(const OpenCvResizer&) = delete;

  // Returns the resized image, which is valid until the next call.
  [[nodiscard]] RgbView Resize(const RgbView& source);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infeed
