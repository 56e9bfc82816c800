#include "trainer/replay/record_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/packed_copy.h"
#include "preprocess/resize/area.h"
#include "records/example/imagenet_example.h"

namespace infeed {
namespace {

constexpr int kMostSide = 256;  // of a picture, in pixels
constexpr int kFrame = 2;       // thickness of the frame
constexpr int kQuality = 85;
constexpr std::array<std::uint8_t, 3> kFrameColor = {230, 0, 60};

// The image/packed of a record. Requires: it has packed pixels.
RgbImage Unpacked(const ImagenetExampleView& example) {
  const std::size_t pixels = example.packed.size() / sizeof(std::uint32_t);
  const auto width = static_cast<std::size_t>(example.width);
  const auto height = static_cast<std::size_t>(example.height);
  if (example.height < 1 || example.width < 1 || pixels % width != 0 ||
      pixels / width != height) {
    throw DataError("image/packed has another size than the image");
  }
  // Copied, as a record's bytes are not aligned.
  std::vector<std::uint32_t> words(pixels);
  std::memcpy(words.data(), example.packed.data(), pixels * sizeof(words[0]));
  RgbImage image;
  image.Resize(static_cast<int>(width), static_cast<int>(height));
  UnpackPixels(words, image.pixels());
  return image;
}

RgbImage ImageOf(std::span<const std::byte> payload,
                 const std::string& image_key) {
  const ImagenetExampleView example =
      ParseImagenetExample(payload, LabelList::kAny, {.image = image_key});
  if (!example.packed.empty()) {
    return Unpacked(example);
  }
  RgbImage image;
  ImageDecoder().Decode(example.encoded, image);
  return image;
}

// As large as it is, or with kMostSide pixels on its longer side.
RgbImage Shrunk(RgbImage image) {
  const int longer = std::max(image.width(), image.height());
  if (longer <= kMostSide) {
    return image;
  }
  const auto side = [&](int length) {
    return std::max(1, length * kMostSide / longer);
  };
  RgbImage small;
  ResizeArea(image.view(), side(image.width()), side(image.height()), small);
  return small;
}

// Colours a rectangle, as far as it is in the image.
void Fill(RgbImage& image, const Window& part) {
  for (int y = std::max(0, part.y);
       y < std::min(image.height(), part.y + part.height); ++y) {
    for (int x = std::max(0, part.x);
         x < std::min(image.width(), part.x + part.width); ++x) {
      std::ranges::copy(kFrameColor, image.row(y) + std::ptrdiff_t{x} * 3);
    }
  }
}

void DrawFrame(RgbImage& image, const Window& window) {
  const auto [y, x, height, width] = window;
  Fill(image, {.y = y, .x = x, .height = kFrame, .width = width});
  Fill(image,
       {.y = y + height - kFrame, .x = x, .height = kFrame, .width = width});
  Fill(image, {.y = y, .x = x, .height = height, .width = kFrame});
  Fill(image,
       {.y = y, .x = x + width - kFrame, .height = height, .width = kFrame});
}

// The part of an axis that an output of `length` pixels shows, in pixels of a
// picture: an output's place is scale * place + shift. Cut at the picture's
// edges.
struct Shown {
  int begin;
  int end;
};
Shown ShownPart(double scale, double shift, int length, double zoom,
                int picture) {
  const auto place = [&](double output) {
    const double in_picture = (output - shift) / scale * zoom;
    return std::clamp(static_cast<int>(std::lround(in_picture)), 0, picture);
  };
  const int a = place(0);
  const int b = place(length);
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

WebPicture RecordPicture(std::span<const std::byte> payload,
                         const std::string& image_key, const Geometry& geometry,
                         const ImageSize& output) {
  try {
    RgbImage image = Shrunk(ImageOf(payload, image_key));
    const AffineMatrix matrix = geometry.Matrix(output);
    const Shown x =
        ShownPart(matrix[0][0], matrix[0][2], output.width,
                  static_cast<double>(image.width()) / geometry.source.width,
                  image.width());
    const Shown y =
        ShownPart(matrix[1][1], matrix[1][2], output.height,
                  static_cast<double>(image.height()) / geometry.source.height,
                  image.height());
    DrawFrame(image, {.y = y.begin,
                      .x = x.begin,
                      .height = y.end - y.begin,
                      .width = x.end - x.begin});
    return {.type = "image/jpeg",
            .bytes = EncodeJpeg(image.view(), {.quality = kQuality})};
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace infeed
