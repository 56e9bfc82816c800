#pragma once

#include <cstdint>
#include <span>

namespace infeed {

// Where the pixels of a sample go, in the memory of others: an image, or the
// crop window that a device will resize. A sample takes one of the two.
class PixelPlace {
 public:
  virtual ~PixelPlace() = default;

  // Returns room for a window, row by row, whose image is mirrored where that
  // is said; empty: its image is wanted.
  [[nodiscard]] virtual std::span<std::uint32_t> TakeWindow(int width,
                                                            int height,
                                                            bool mirrored) = 0;
  // Returns room for image_size x image_size pixels.
  [[nodiscard]] virtual std::span<std::uint32_t> TakeImage() = 0;
};

// Room for an image and no window.
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
