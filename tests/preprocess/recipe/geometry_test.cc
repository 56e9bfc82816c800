#include "preprocess/recipe/geometry.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/recipe/boxes.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"

// A red rectangle in a green image: where the recipes' pixels have it, there
// the geometry and the boxes have it too.
namespace infeed::geometry_test {

using testing::DoubleNear;
using testing::FloatNear;
using testing::Pointwise;
using Pixels = std::vector<std::uint32_t>;

constexpr Window kRectangle{.y = 40, .x = 60, .height = 70, .width = 90};

RgbImage Drawn(const ImageSize& size, const Window& rectangle) {
  RgbImage image;
  image.Resize(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const bool is_red = y >= rectangle.y && x >= rectangle.x &&
                          y < rectangle.y + rectangle.height &&
                          x < rectangle.x + rectangle.width;
      std::uint8_t* const pixel = image.row(y) + 3 * x;
      pixel[0] = is_red ? 255 : 0;
      pixel[1] = is_red ? 0 : 255;
      pixel[2] = 0;
    }
  }
  return image;
}

// x1, y1, x2, y2 of the red pixels.
std::vector<float> Found(const Pixels& pixels, const ImageSize& size) {
  int left = size.width;
  int top = size.height;
  int right = 0;
  int bottom = 0;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      if (pixels[static_cast<std::size_t>(y * size.width + x)] >> 24 > 127) {
        left = std::min(left, x);
        top = std::min(top, y);
        right = std::max(right, x + 1);
        bottom = std::max(bottom, y + 1);
      }
    }
  }
  return {static_cast<float>(left), static_cast<float>(top),
          static_cast<float>(right), static_cast<float>(bottom)};
}

// The corners of the rectangle's part in the window through the matrix, in
// order and in the output.
std::vector<float> Mapped(const Geometry& geometry, const ImageSize& size,
                          const Window& rectangle) {
  const Window& window = geometry.window;
  const auto in_window = [](int at, int first, int length) {
    return static_cast<double>(std::clamp(at, first, first + length));
  };
  std::vector<double> xy = {
      in_window(rectangle.x, window.x, window.width),
      in_window(rectangle.y, window.y, window.height),
      in_window(rectangle.x + rectangle.width, window.x, window.width),
      in_window(rectangle.y + rectangle.height, window.y, window.height)};
  Apply(geometry.Matrix(size), xy);
  const auto inside = [](double value, int length) {
    return static_cast<float>(std::clamp(value, 0.0, double(length)));
  };
  return {inside(std::min(xy[0], xy[2]), size.width),
          inside(std::min(xy[1], xy[3]), size.height),
          inside(std::max(xy[0], xy[2]), size.width),
          inside(std::max(xy[1], xy[3]), size.height)};
}

// Returns whether the output has enough of the rectangle to compare.
bool ExpectAgree(const Geometry& geometry, const Pixels& pixels,
                 const ImageSize& size, const Window& rectangle) {
  std::vector<float> boxes = {
      static_cast<float>(rectangle.x), static_cast<float>(rectangle.y),
      static_cast<float>(rectangle.x + rectangle.width),
      static_cast<float>(rectangle.y + rectangle.height)};
  std::vector<std::uint32_t> kept;
  FollowBoxes(geometry, size, {.min_size = 3}, boxes, kept);
  if (kept.empty()) {
    return false;
  }
  EXPECT_THAT(Found(pixels, size), Pointwise(FloatNear(1.01F), boxes));
  EXPECT_THAT(Mapped(geometry, size, rectangle),
              Pointwise(FloatNear(0.001F), boxes));
  return true;
}

struct Way {
  std::string name;
  bool training;
  PreprocessOptions options;
};

constexpr ImageSize kSize{48, 64};

std::vector<Way> Ways() {
  std::vector<Way> ways;
  for (const auto& [name, recipe] : kRecipes) {
    const PreprocessOptions options = {.recipe = recipe, .image_size = kSize};
    ways.push_back({std::string(name), true, options});
    ways.push_back({std::string(name), false, options});
    ways.push_back({std::string(name) + " upside down", true, options});
    ways.back().options.augment.vertical_flip = true;
    if (recipe == Recipe::kTpu || recipe == Recipe::kTorchvision) {
      ways.push_back({std::string(name) + " ten crops", false, options});
      ways.back().options.crop.eval_crops = 10;
    }
  }
  for (const Recipe recipe : {Recipe::kPlain, Recipe::kFit}) {
    ways.push_back(
        {"IoU crop",
         true,
         {.recipe = recipe, .crop = {.iou_crop = true}, .image_size = kSize}});
  }
  ways.push_back({"margins",
                  false,
                  {.recipe = Recipe::kTorchvision,
                   .crop = {.eval_resize = 48},
                   .image_size = {48, 97}}});
  PreprocessOptions fit = {.recipe = Recipe::kFit, .image_size = {48, 97}};
  ways.push_back({"fit in a wide output", true, fit});
  fit.fit.margin = FitMargin::kEnd;
  ways.push_back({"fit, margin at the end", true, fit});
  ways.push_back({"fit, margin at the end", false, fit});
  fit.image_size = kSize;
  fit.fit.scale_min = 0.5;
  fit.fit.scale_max = 2;
  ways.push_back({"fit, scale jitter", true, fit});
  ways.push_back({"fit, scale jitter, upside down", true, fit});
  ways.back().options.augment.vertical_flip = true;
  return ways;
}

TEST(GeometryTest, BoxesAreWhereTheRectangleIs) {
  const ImageSize source(150, 200);
  const RgbImage image = Drawn(source, kRectangle);
  const std::string encoded[] = {
      EncodePng(image.view()), EncodeJpeg(image.view(), {.subsample = false})};
  const std::array<float, 4> box = {60, 40, 150, 110};  // kRectangle
  int mirrored = 0;
  int upside_down = 0;
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name + (way.training ? ", training" : ", evaluation"));
    const ImageSize& size = way.options.image_size;
    Preprocessor preprocessor(way.options, way.training);
    Pixels pixels(size.pixels());
    int compared = 0;
    for (std::uint64_t position = 0; position < 20; ++position) {
      SCOPED_TRACE(position);
      const SampleKey key = {.seed = 3, .position = position};
      Geometry last;
      for (const std::string& bytes : encoded) {
        last = preprocessor
                   .Fill(AsBytes(bytes), key, pixels, {}, nullptr,
                         [&box](const ImageSize&) { return std::span(box); })
                   .geometry;
        EXPECT_EQ(last.source, source);
        compared += ExpectAgree(last, pixels, size, kRectangle);
      }
      mirrored += last.is_mirrored;
      upside_down += last.is_upside_down;
    }
    EXPECT_GE(compared, 24);
  }
  EXPECT_GT(mirrored, 30);
  EXPECT_GT(upside_down, 8);
}

TEST(GeometryTest, PackedPixelsHaveAGeometryToo) {
  const Window rectangle{.y = 10, .x = 20, .height = 12, .width = 30};
  const RgbImage image = Drawn(kSize, rectangle);
  Pixels packed(kSize.pixels());
  PackImage(image.view(), false, packed);
  for (const auto& [name, recipe] : kRecipes) {
    SCOPED_TRACE(std::string(name));
    Preprocessor preprocessor({.recipe = recipe,
                               .image_size = kSize,
                               .augment = {.vertical_flip = true}},
                              true);
    Pixels pixels(kSize.pixels());
    for (std::uint64_t position = 0; position < 20; ++position) {
      const Geometry geometry =
          preprocessor
              .CopyPacked(AsBytes(LittleEndianBytes(packed)), kSize.height,
                          kSize.width, {.position = position}, pixels)
              .geometry;
      EXPECT_EQ(geometry.source, kSize);
      EXPECT_TRUE(ExpectAgree(geometry, pixels, kSize, rectangle));
    }
  }
}

TEST(GeometryTest, MatrixMapsTheWindowToTheOutput) {
  const ImageSize output(50, 40);
  Geometry geometry = {
      .source = {150, 200},
      .window = {.y = 20, .x = 30, .height = 100, .width = 160},
      .resized = output};
  for (const bool is_mirrored : {false, true}) {
    for (const bool is_upside_down : {false, true}) {
      geometry.is_mirrored = is_mirrored;
      geometry.is_upside_down = is_upside_down;
      const AffineMatrix matrix = geometry.Matrix(output);
      std::vector<double> corners = {30, 20, 190, 120};
      Apply(matrix, corners);
      const double left = is_mirrored ? 40 : 0;
      const double top = is_upside_down ? 50 : 0;
      EXPECT_THAT(corners,
                  ElementsAre(DoubleNear(left, 1e-12), DoubleNear(top, 1e-12),
                              DoubleNear(40 - left, 1e-12),
                              DoubleNear(50 - top, 1e-12)));
      const double a = matrix[0][0];
      const double e = matrix[1][1];
      Apply({{{1 / a, 0, -matrix[0][2] / a}, {0, 1 / e, -matrix[1][2] / e}}},
            corners);
      EXPECT_THAT(corners,
                  ElementsAre(DoubleNear(30, 1e-12), DoubleNear(20, 1e-12),
                              DoubleNear(190, 1e-12), DoubleNear(120, 1e-12)));
    }
  }
}

}  // namespace infeed::geometry_test
