#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "preprocess/codecs/png_codec.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/test_jpeg.h"

// Records of PNG in every recipe, whatever their pixels are.
namespace infeed {
namespace png_recipes_test {

constexpr int kSize = 24;
constexpr int kWidth = 70;
constexpr int kHeight = 50;

std::string Encoded(const cv::Mat& image) {
  std::vector<std::uint8_t> bytes;
  EXPECT_TRUE(cv::imencode(".png", image, bytes));
  return {bytes.begin(), bytes.end()};
}

cv::Mat Made(int type) {
  cv::Mat image(kHeight, kWidth, type);
  cv::theRNG().state = 1;
  cv::randu(image, 0, CV_MAT_DEPTH(type) == CV_16U ? 65536 : 256);
  return image;
}

// The image as R G B bytes: the high ones of 16 bits, grey spread, alpha
// dropped.
RgbImage Rgb(const cv::Mat& image) {
  cv::Mat high;
  if (image.depth() == CV_16U) {
    image.convertTo(high, CV_8U, 1.0 / 256, -0.498);  // rounded to the nearest
  } else {
    high = image;
  }
  RgbImage result;
  result.Resize(high.cols, high.rows);
  const int channels = high.channels();
  for (int y = 0; y < high.rows; ++y) {
    const std::uint8_t* const row = high.ptr<std::uint8_t>(y);
    for (int x = 0; x < high.cols; ++x) {
      for (int c = 0; c < 3; ++c) {
        result.row(y)[3 * x + c] =
            row[channels == 1 ? x : channels * x + 2 - c];
      }
    }
  }
  return result;
}

using Pixels = std::vector<std::uint32_t>;

Pixels Filled(Preprocessor& preprocessor, const std::string& png,
              std::uint64_t position) {
  Pixels pixels(std::size_t{kSize} * kSize);
  preprocessor.Fill(AsBytes(png), {.position = position}, pixels);
  return pixels;
}

class PngRecipesTest : public testing::TestWithParam<Recipe> {};

TEST_P(PngRecipesTest, PngGivesItsPixelsInRgb) {
  for (const int type : {CV_8UC1, CV_8UC3, CV_8UC4, CV_16UC1, CV_16UC3}) {
    const cv::Mat made = Made(type);
    const std::string png = Encoded(made);
    const std::string rgb = EncodePng(Rgb(made).view());
    for (const bool training : {false, true}) {
      Preprocessor preprocessor({.recipe = GetParam(), .image_size = kSize},
                                training);
      for (std::uint64_t position = 0; position < 4; ++position) {
        const Pixels pixels = Filled(preprocessor, png, position);
        EXPECT_EQ(pixels, Filled(preprocessor, rgb, position)) << type;
        EXPECT_GT(*std::ranges::max_element(pixels), 0x80000000) << type;
      }
    }
  }
}

// A JPEG of the same pixels would be cut and mirrored alike: a PNG of what one
// decodes to gives the JPEG's pixels.
TEST_P(PngRecipesTest, PngIsTreatedLikeAJpeg) {
  const std::string jpeg = TestJpeg({.width = kWidth, .height = kHeight});
  JpegDecoder decoder;
  RgbImage image;
  EXPECT_EQ(decoder.ReadHeader(AsBytes(jpeg)).components, 3);
  decoder.Decode(image);
  const std::string png = EncodePng(image.view());
  for (const bool training : {false, true}) {
    Preprocessor preprocessor({.recipe = GetParam(), .image_size = kSize},
                              training);
    for (std::uint64_t position = 0; position < 4; ++position) {
      EXPECT_EQ(Filled(preprocessor, png, position),
                Filled(preprocessor, jpeg, position));
    }
  }
}

std::string RecipeOf(const testing::TestParamInfo<Recipe>& test) {
  return std::string(ChoiceName(test.param, kRecipes));
}

INSTANTIATE_TEST_SUITE_P(Recipes, PngRecipesTest,
                         testing::Values(Recipe::kTpu, Recipe::kTorchvision,
                                         Recipe::kPlain, Recipe::kCifar),
                         RecipeOf);

}  // namespace png_recipes_test
}  // namespace infeed
