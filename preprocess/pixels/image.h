#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// A rectangle of pixels in an image: (y, x) is its first pixel.
struct Window {
  int y = 0;
  int x = 0;
  int height = 0;
  int width = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

// A borrowed image: rows of width x 3 bytes, R G B, stride bytes apart.
struct RgbView {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;

  [[nodiscard]] const std::uint8_t* row(int y) const {
    return pixels + y * stride;
  }
};

// An owned image, [height, width, 3] bytes without padding. Keeps its memory
// when it is reused for a smaller image.
class RgbImage {
 public:
  RgbImage() = default;
  ~RgbImage() = default;
  RgbImage(const RgbImage&) = delete;  // Too large to copy.
  RgbImage& operator=(const RgbImage&) = delete;
  RgbImage(RgbImage&&) = default;
  RgbImage& operator=(RgbImage&&) = default;

  // Gives the image a size; its pixels are unspecified. Requires: both > 0.
  void Resize(int width, int height) {
    width_ = width;
    height_ = height;
    pixels_.resize(static_cast<std::size_t>(width) * height * 3);
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] std::uint8_t* row(int y) {
    return pixels_.data() + static_cast<std::ptrdiff_t>(y) * width_ * 3;
  }
  [[nodiscard]] std::span<std::uint8_t> pixels() { return pixels_; }
  [[nodiscard]] RgbView view() const {
    return {pixels_.data(), width_, height_,
            static_cast<std::ptrdiff_t>(width_) * 3};
  }
  // The pixels of a window. Requires: the window lies inside the image.
  [[nodiscard]] RgbView view(const Window& window) const {
    const RgbView whole = view();
    return {whole.row(window.y) + static_cast<std::ptrdiff_t>(window.x) * 3,
            window.width, window.height, whole.stride};
  }

 private:
  int width_ = 0;
  int height_ = 0;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace infeed
