#include "trainer/feed/window_images.h"

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "trainer/feed/resize_math.h"

namespace infeed {

void ResizeSlot(const Batch& batch, int slot, std::span<std::uint32_t> image) {
  const BatchWindows* const windows = batch.windows();
  const int side = batch.image_size();
  Check(windows != nullptr && slot >= 0 && slot < batch.size() &&
            std::ssize(image) == std::ptrdiff_t{side} * side,
        "an image of a window");
  const ResizeKernel kernel = windows->kernel();
  const ResizeWindow& window =
      windows->windows()[static_cast<std::size_t>(slot)];
  const std::uint32_t* const pixels =
      batch.pixels().data() + std::ptrdiff_t{window.offset} * kWindowAlignment;
  std::vector<FourTaps> columns;
  columns.reserve(static_cast<std::size_t>(side));
  for (int x = 0; x < side; ++x) {
    columns.push_back(TapsAt(kernel, window.width, side,
                             window.mirrored != 0 ? side - 1 - x : x));
  }
  std::size_t next = 0;
  for (int y = 0; y < side; ++y) {
    const FourTaps rows = TapsAt(kernel, window.height, side, y);
    for (const FourTaps& taps : columns) {
      image[next++] =
          ResizedPixel(pixels, window.width, window.height, rows, taps);
    }
  }
}

}  // namespace infeed
