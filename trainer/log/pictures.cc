#include "trainer/log/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/ratio.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "trainer/results/metrics.h"

namespace infeed {
namespace {

using Color = std::array<std::uint8_t, 3>;  // R G B

constexpr Color kWhite = {255, 255, 255};
constexpr Color kLine = {208, 213, 221};
constexpr Color kBlue = {23, 78, 166};

constexpr int kMapSide = 512;   // approximately, for a map of few classes
constexpr int kLeastLined = 6;  // pixels of a square that has a frame
constexpr int kCurveSide = 320;
constexpr int kLeastLossy = 96;  // pixels; smaller ones are stored exactly
constexpr int kWebQuality = 90;

// color_at(x, y): the color of a pixel.
template <typename ColorAt>
RgbImage Draw(int width, int height, const ColorAt& color_at) {
  RgbImage image;
  image.Resize(width, height);
  for (int y = 0; y < height; ++y) {
    std::uint8_t* to = image.row(y);
    for (int x = 0; x < width; ++x) {
      const Color color = color_at(x, y);
      to = std::ranges::copy(color, to).out;
    }
  }
  return image;
}

SummaryImage Encoded(const RgbImage& image) {
  return {.png = EncodePng(image.view()),
          .width = image.width(),
          .height = image.height()};
}

RgbImage ImageIn(const Batch& batch, int slot) {
  const auto [height, width] = batch.image_size();
  const std::size_t count = batch.image_size().pixels();
  const auto pixels =
      batch.pixels().subspan(static_cast<std::size_t>(slot) * count, count);
  auto next = pixels.begin();
  return Draw(width, height, [&](int /*x*/, int /*y*/) {
    const std::uint32_t pixel = *next++;
    return Color{static_cast<std::uint8_t>(pixel >> 24),
                 static_cast<std::uint8_t>(pixel >> 16),
                 static_cast<std::uint8_t>(pixel >> 8)};
  });
}

// White for 0, dark blue for 1. Uses the square root, so that small fractions
// are visible beside large ones.
Color Shade(double share) {
  Color color;
  for (std::size_t i = 0; i < color.size(); ++i) {
    color[i] = static_cast<std::uint8_t>(
        std::lround(std::lerp(kWhite[i], kBlue[i], std::sqrt(share))));
  }
  return color;
}

std::vector<Color> Shades(const EvalResult& result) {
  const auto counts = CountClasses(result.confusion, result.classes);
  std::vector<Color> shades;
  shades.reserve(result.confusion.size());
  for (std::size_t i = 0; i < result.confusion.size(); ++i) {
    shades.push_back(
        Shade(Ratio(static_cast<double>(result.confusion[i]),
                    static_cast<double>(counts[i / counts.size()].images))));
  }
  return shades;
}

// The curve's rate of true positives at a rate of false ones.
double TruePositives(const std::vector<RocPoint>& curve,
                     double false_positives) {
  const auto after = std::ranges::upper_bound(curve, false_positives, {},
                                              &RocPoint::false_positive_rate);
  if (after == curve.begin()) {
    return 0;
  }
  const RocPoint& from = *std::prev(after);
  if (after == curve.end()) {
    return from.true_positive_rate;
  }
  return std::lerp(from.true_positive_rate, after->true_positive_rate,
                   (false_positives - from.false_positive_rate) /
                       (after->false_positive_rate - from.false_positive_rate));
}

}  // namespace

SummaryImage InputPicture(const Batch& batch, int slot) {
  return Encoded(ImageIn(batch, slot));
}

WebPicture PictureForWeb(const Batch& batch, int slot) {
  const RgbImage image = ImageIn(batch, slot);
  if (image.width() < kLeastLossy) {
    return {.type = "image/png", .bytes = EncodePng(image.view())};
  }
  return {.type = "image/jpeg",
          .bytes = EncodeJpeg(image.view(), {.quality = kWebQuality})};
}

SummaryImage ConfusionPicture(const EvalResult& result) {
  Check(!result.confusion.empty(), "there is a confusion matrix");
  const int square = std::max(1, kMapSide / result.classes);
  const int frame = square >= kLeastLined ? 1 : 0;
  const int side = square * result.classes + frame;
  const std::vector<Color> shades = Shades(result);
  return Encoded(Draw(side, side, [&](int x, int y) {
    if (frame > 0 && (x % square == 0 || y % square == 0)) {
      return kLine;
    }
    return shades[static_cast<std::size_t>(y / square * result.classes +
                                           x / square)];
  }));
}

SummaryImage RocPicture(const EvalResult& result) {
  Check(!result.roc.empty(), "there is a curve");
  constexpr double kLast = kCurveSide - 1;
  std::array<double, kCurveSide> heights{};
  for (int x = 0; x < kCurveSide; ++x) {
    heights[static_cast<std::size_t>(x)] = TruePositives(result.roc, x / kLast);
  }
  return Encoded(Draw(kCurveSide, kCurveSide, [&](int x, int y) {
    if (x + y == kCurveSide - 1) {
      return kLine;
    }
    const bool is_below = 1 - y / kLast <= heights[static_cast<std::size_t>(x)];
    return is_below ? kBlue : kWhite;
  }));
}

}  // namespace infeed
