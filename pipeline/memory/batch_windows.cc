#include "pipeline/memory/batch_windows.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/error.h"
#include "base/rounding.h"

namespace infeed {
namespace {

constexpr int kLargestSide =
    std::numeric_limits<decltype(ResizeWindow::width)>::max();

constexpr std::int64_t Aligned(std::int64_t pixels) {
  return RoundUp<std::int64_t>(pixels, kWindowAlignment);
}

}  // namespace

std::int64_t BatchWindows::Capacity(int size, int image_size) {
  return size * kWindowShare * Aligned(std::int64_t{image_size} * image_size);
}

BatchWindows::BatchWindows(std::span<std::uint32_t> pixels,
                           std::span<ResizeWindow> windows, int image_size,
                           ResizeKernel kernel)
    : pixels_(pixels),
      windows_(windows),
      image_size_(image_size),
      image_pixels_(Aligned(std::int64_t{image_size} * image_size)),
      kernel_(kernel),
      rooms_(windows.size()) {
  Check(kernel != ResizeKernel::kAntialias, "a device has four taps");
  Clear();
}

void BatchWindows::Clear() {
  std::ranges::fill(rooms_, Room{});
  used_ = 0;
  spare_ = std::ssize(pixels_) - std::ssize(rooms_) * image_pixels_;
}

bool BatchWindows::Reserve(int slot, std::int64_t pixels) {
  Room& room = rooms_[static_cast<std::size_t>(slot)];
  if (room.size > 0) {
    return pixels <= room.size;
  }
  const std::int64_t size = std::max(Aligned(pixels), image_pixels_);
  const std::int64_t extra = size - image_pixels_;
  if (spare_.fetch_sub(extra, std::memory_order_relaxed) < extra) {
    spare_.fetch_add(extra, std::memory_order_relaxed);
    return false;
  }
  room = {.first = used_.fetch_add(size, std::memory_order_relaxed),
          .size = size};
  return true;
}

std::span<std::uint32_t> BatchWindows::TakeWindow(int slot, int width,
                                                  int height, bool mirrored) {
  const std::int64_t pixels = std::int64_t{width} * height;
  if (std::max(width, height) > kLargestSide || !Reserve(slot, pixels)) {
    return {};
  }
  const auto index = static_cast<std::size_t>(slot);
  const std::int64_t first = rooms_[index].first;
  windows_[index] = {
      .offset = static_cast<std::uint32_t>(first / kWindowAlignment),
      .width = static_cast<std::uint16_t>(width),
      .height = static_cast<std::uint16_t>(height),
      .mirrored = mirrored ? 1U : 0U};
  return pixels_.subspan(static_cast<std::size_t>(first),
                         static_cast<std::size_t>(pixels));
}

std::span<std::uint32_t> BatchWindows::TakeImage(int slot) {
  const std::span<std::uint32_t> image =
      TakeWindow(slot, image_size_, image_size_, false);
  Check(!image.empty(), "a slot has the room of its image");
  return image;
}

// One black pixel, resized, fills the image with black.
void BatchWindows::Blank(int slot) { TakeWindow(slot, 1, 1, false)[0] = 0; }

}  // namespace infeed
