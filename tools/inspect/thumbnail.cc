#include "tools/inspect/thumbnail.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "preprocess/codecs/image_decoder.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/resize/resize.h"

namespace infeed {
namespace {

constexpr int kQuality = 85;

// Means of 2 x 2 pixels. Requires: the view has at least 2 x 2.
RgbImage Halved(const RgbView& image) {
  RgbImage half;
  half.Resize(image.width / 2, image.height / 2);
  for (int y = 0; y < half.height(); ++y) {
    const std::uint8_t* upper = image.row(2 * y);
    const std::uint8_t* lower = image.row(2 * y + 1);
    std::uint8_t* out = half.row(y);
    for (int i = 0; i < half.width() * 3; ++i) {
      const int left = i / 3 * 6 + i % 3;
      out[i] = static_cast<std::uint8_t>(
          (upper[left] + upper[left + 3] + lower[left] + lower[left + 3] + 2) /
          4);
    }
  }
  return half;
}

Window CentredSquare(const RgbImage& image) {
  const int side = std::min(image.width(), image.height());
  return {.y = (image.height() - side) / 2,
          .x = (image.width() - side) / 2,
          .height = side,
          .width = side};
}

}  // namespace

std::string Thumbnail(std::span<const std::byte> encoded, int size) {
  RgbImage image;
  ImageDecoder().Decode(encoded, image);
  // The resize reads only four samples per pixel: a much larger image would
  // alias.
  while (std::min(image.width(), image.height()) >= 2 * size) {
    image = Halved(image.view());
  }
  std::vector<std::uint32_t> packed(static_cast<std::size_t>(size) * size);
  ResizeBicubic(image.view(CentredSquare(image)), size, false, packed);
  RgbImage small;
  small.Resize(size, size);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    for (const std::size_t channel : {0, 1, 2}) {
      small.pixels()[i * 3 + channel] =
          static_cast<std::uint8_t>(packed[i] >> (24 - 8 * channel));
    }
  }
  return EncodeJpeg(small.view(), {.quality = kQuality});
}

}  // namespace infeed
