#pragma once

#include <cstdint>
#include <span>

namespace infeed {

// The destination of a sample's pixels, in memory that it does not own: the
// image, or the crop window that a device will resize. A sample takes one of
// the two.
class PixelPlace {
 public:
  virtual ~PixelPlace() = default;

  // Returns room for a window, row by row, whose image is mirrored later if
  // `mirrored` is set; empty: the image is wanted instead.
  [[nodiscard]] virtual std::span<std::uint32_t> TakeWindow(int width,
                                                            int height,
                                                            bool mirrored) = 0;
  // Returns room for image_size x image_size pixels.
  [[nodiscard]] virtual std::span<std::uint32_t> TakeImage() = 0;
};

// A destination that takes only images.
class ImageRoom final : public PixelPlace {
 public:
  explicit ImageRoom(std::span<std::uint32_t> pixels) : pixels_(pixels) {}

  [[nodiscard]] std::span<std::uint32_t> TakeWindow(
      int /*width*/, int /*height*/, bool /*mirrored*/) override {
    return {};
  }
  [[nodiscard]] std::span<std::uint32_t> TakeImage() override {
    return pixels_;
  }

 private:
  std::span<std::uint32_t> pixels_;
};

}  // namespace infeed
