#include "preprocess/pixels/pack.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"

namespace infeed {

void PackImage(const RgbView& image, bool flip,
               std::span<std::uint32_t> destination) {
  const auto width = static_cast<std::ptrdiff_t>(image.width);
  Check(std::ssize(destination) == width * image.height,
        "the destination has the image's size");
  const std::ptrdiff_t step = flip ? -1 : 1;
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* source = image.row(y);
    std::uint32_t* target =
        destination.data() + y * width + (flip ? width - 1 : 0);
    for (int x = 0; x < image.width; ++x, source += 3, target += step) {
      *target = PackPixel(source[0], source[1], source[2]);
    }
  }
}

void MirrorRows(int width, std::span<std::uint32_t> pixels) {
  const auto step = static_cast<std::size_t>(width);
  Check(pixels.size() % step == 0, "pixels are whole rows");
  for (std::size_t row = 0; row < pixels.size(); row += step) {
    std::ranges::reverse(pixels.subspan(row, step));
  }
}

}  // namespace infeed
