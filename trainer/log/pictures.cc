#include "trainer/log/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/ratio.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "trainer/log/text_image.h"

namespace infeed {
namespace {

using Color = std::array<std::uint8_t, 3>;  // R G B

constexpr Color kWhite = {255, 255, 255};
constexpr Color kLine = {208, 213, 221};
constexpr Color kBlue = {23, 78, 166};

constexpr int kMapSide = 512;           // approximately, for a map of few
                                        // classes
constexpr int kLeastLined = 6;          // pixels of a square that has a frame
constexpr int kMostNames = 50;          // classes of a map that has names
constexpr std::size_t kNameBytes = 24;  // of a name
constexpr int kTextGap = 3;
constexpr int kCurveSide = 320;
constexpr int kCurveMargin = 10;
constexpr int kLeastLossy = 96;  // pixels; smaller pictures are stored without
                                 // loss
constexpr int kWebQuality = 90;

SummaryImage Encoded(const RgbImage& image) {
  return {.png = EncodePng(image.view()),
          .width = image.width(),
          .height = image.height()};
}

RgbImage Filled(int width, int height, const Color& color) {
  RgbImage image;
  image.Resize(width, height);
  for (std::size_t i = 0; i < image.pixels().size(); ++i) {
    image.pixels()[i] = color[i % 3];
  }
  return image;
}

void SetPixel(RgbImage& image, int x, int y, const Color& color) {
  std::ranges::copy(color, image.row(y) + static_cast<std::ptrdiff_t>(x) * 3);
}

void FillSquare(RgbImage& image, int x, int y, int side, const Color& color) {
  for (int row = y; row < y + side; ++row) {
    for (int column = x; column < x + side; ++column) {
      SetPixel(image, column, row, color);
    }
  }
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

struct Point {
  double x;
  double y;
};

// A line of about two pixels.
void DrawLine(RgbImage& image, const Point& from, const Point& to,
              const Color& color) {
  const int steps = 2 + 2 * static_cast<int>(std::max(std::abs(to.x - from.x),
                                                      std::abs(to.y - from.y)));
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    FillSquare(image, static_cast<int>(std::lerp(from.x, to.x, t)),
               static_cast<int>(std::lerp(from.y, to.y, t)), 2, color);
  }
}

// The slot's packed pixels.
std::vector<std::uint32_t> ImageOf(const Batch& batch, int slot) {
  const std::size_t count = batch.image_size().pixels();
  const auto pixels =
      batch.pixels().subspan(static_cast<std::size_t>(slot) * count, count);
  return {pixels.begin(), pixels.end()};
}

Point InPlot(const RocPoint& point) {
  constexpr double kSide = kCurveSide - 2 * kCurveMargin - 1;
  return {.x = kCurveMargin + kSide * point.false_positive_rate,
          .y = kCurveMargin + kSide * (1 - point.true_positive_rate)};
}

// The names of all classes, and then the titles of the matrix's sides.
std::vector<RgbImage> NameTexts(int classes,
                                const std::vector<std::string>& names) {
  std::vector<RgbImage> texts;
  for (std::size_t label = 0; label < static_cast<std::size_t>(classes);
       ++label) {
    texts.push_back(TextImage(label < names.size()
                                  ? names[label].substr(0, kNameBytes)
                                  : std::to_string(label)));
  }
  texts.push_back(TextImage("actual \\ predicted"));
  return texts;
}

// Draws the text from its lower left corner on, to the right or upwards.
void DrawText(RgbImage& image, const RgbImage& text, int x, int y,
              bool upwards) {
  for (int row = 0; row < text.height(); ++row) {
    for (int column = 0; column < text.width(); ++column) {
      const std::uint8_t* const pixel =
          text.view().row(row) + std::ptrdiff_t{column} * 3;
      const int up = text.height() - row;
      SetPixel(image, upwards ? x - up : x + column,
               upwards ? y - column : y - up, {pixel[0], pixel[1], pixel[2]});
    }
  }
}

// Draws the names of rows on the left and of columns on top; the last text is
// in the corner.
void DrawNames(RgbImage& image, const std::vector<RgbImage>& texts, int margin,
               int square) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool is_corner = i + 1 == texts.size();
    const int end = is_corner ? margin - kTextGap
                              : margin + static_cast<int>(i) * square +
                                    (square + kTextHeight) / 2;
    DrawText(image, texts[i], margin - kTextGap - texts[i].width(), end,
             /*upwards=*/false);
    if (!is_corner) {
      DrawText(image, texts[i], end, margin - kTextGap, /*upwards=*/true);
    }
  }
}

struct MatrixLayout {
  int margin;
  int square;
  int frame;
};

void DrawSquares(RgbImage& image, const EvalResult& result,
                 const MatrixLayout& layout) {
  const auto [margin, square, frame] = layout;
  FillSquare(image, margin, margin, image.width() - margin, kLine);
  const auto classes = static_cast<std::size_t>(result.classes);
  for (std::size_t label = 0; label < classes; ++label) {
    const auto row =
        std::span(result.confusion).subspan(label * classes, classes);
    const double total = static_cast<double>(
        std::accumulate(row.begin(), row.end(), std::int64_t{0}));
    for (std::size_t predicted = 0; predicted < classes; ++predicted) {
      const double share = Ratio(static_cast<double>(row[predicted]), total);
      FillSquare(image, margin + static_cast<int>(predicted) * square + frame,
                 margin + static_cast<int>(label) * square + frame,
                 square - frame, Shade(share));
    }
  }
}

RgbImage ImageIn(const Batch& batch, int slot) {
  RgbImage image;
  image.Resize(batch.image_size().width, batch.image_size().height);
  const std::vector<std::uint32_t> pixels = ImageOf(batch, slot);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    image.pixels()[3 * i] = static_cast<std::uint8_t>(pixels[i] >> 24);
    image.pixels()[3 * i + 1] = static_cast<std::uint8_t>(pixels[i] >> 16);
    image.pixels()[3 * i + 2] = static_cast<std::uint8_t>(pixels[i] >> 8);
  }
  return image;
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

SummaryImage ConfusionPicture(const EvalResult& result,
                              const std::vector<std::string>& names) {
  Check(!result.confusion.empty(), "there is a confusion matrix");
  const bool named = !names.empty() && result.classes <= kMostNames;
  const std::vector<RgbImage> texts =
      named ? NameTexts(result.classes, names) : std::vector<RgbImage>();
  int margin = 0;
  for (const RgbImage& text : texts) {
    margin = std::max(margin, text.width() + 2 * kTextGap);
  }
  const int square =
      std::max(named ? kTextHeight + 2 : 1, kMapSide / result.classes);
  const int frame = square >= kLeastLined ? 1 : 0;
  const int side = margin + square * result.classes + frame;
  RgbImage image = Filled(side, side, kWhite);
  DrawSquares(image, result,
              {.margin = margin, .square = square, .frame = frame});
  DrawNames(image, texts, margin, square);
  return Encoded(image);
}

SummaryImage RocPicture(const EvalResult& result) {
  Check(!result.roc.empty(), "there is a curve");
  RgbImage image = Filled(kCurveSide, kCurveSide, kWhite);
  const std::array<Point, 4> corners = {InPlot({0, 0}), InPlot({1, 0}),
                                        InPlot({1, 1}), InPlot({0, 1})};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    DrawLine(image, corners[i], corners[(i + 1) % corners.size()], kLine);
  }
  DrawLine(image, corners[0], corners[2], kLine);
  for (std::size_t i = 1; i < result.roc.size(); ++i) {
    DrawLine(image, InPlot(result.roc[i - 1]), InPlot(result.roc[i]), kBlue);
  }
  return Encoded(image);
}

}  // namespace infeed
