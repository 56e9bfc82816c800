#include "preprocess/recipe/pair.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::pair_test {

using Pixels = std::vector<std::uint32_t>;

constexpr ImageSize kOutput(24, 32);

// One way to make the first output of a pair.
struct Way {
  std::string name;
  bool training = true;
  PreprocessOptions options;
};

std::vector<Way> Ways() {
  std::vector<Way> ways;
  for (const auto& [name, recipe] : kRecipes) {
    const PreprocessOptions options = {.recipe = recipe, .image_size = kOutput};
    ways.push_back({std::string(name) + " training", true, options});
    ways.push_back({std::string(name) + " evaluation", false, options});
    if (recipe == Recipe::kTpu || recipe == Recipe::kTorchvision) {
      ways.push_back({std::string(name) + " ten crops", false, options});
      ways.back().options.crop.eval_crops = 10;
    }
  }
  PreprocessOptions fit = {.recipe = Recipe::kFit,
                           .fit = {.scale_min = 0.5, .scale_max = 2},
                           .image_size = kOutput};
  ways.push_back({"scale jitter", true, fit});
  fit.fit = {.margin = FitMargin::kEnd};
  ways.push_back({"margins at the end", true, fit});
  // Its shorter side is less than the output's width.
  ways.push_back({"black margins",
                  false,
                  {.recipe = Recipe::kTorchvision,
                   .crop = {.eval_resize = 25},
                   .image_size = kOutput}});
  return ways;
}

RgbImage Noise(const ImageSize& size) {
  RgbImage image;
  image.Resize(size.width, size.height);
  unsigned state = 1;
  for (std::uint8_t& level : image.pixels()) {
    state = state * 1103515245U + 12345U;
    level = static_cast<std::uint8_t>(state >> 24);
  }
  return image;
}

// Each pixel as a square of them.
RgbImage EnlargedImage(const RgbImage& image, int times) {
  RgbImage large;
  large.Resize(times * image.width(), times * image.height());
  for (int y = 0; y < large.height(); ++y) {
    for (int x = 0; x < large.width(); ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        large.row(y)[3 * x + channel] =
            image.view().row(y / times)[3 * (x / times) + channel];
      }
    }
  }
  return large;
}

// Places of the source, and of the source that is `times` as large, are at the
// same parts of both outputs.
void ExpectAligned(const Geometry& first, const ImageSize& first_size,
                   const Geometry& second, const ImageSize& second_size,
                   int times) {
  for (const auto& [x, y] : {std::pair(0.0, 0.0), std::pair(17.0, 41.0)}) {
    std::vector<double> at = {x, y};
    std::vector<double> second_at = {times * x, times * y};
    Apply(first.Matrix(first_size), at);
    Apply(second.Matrix(second_size), second_at);
    EXPECT_NEAR(at[0] * second_size.width / first_size.width, second_at[0],
                1e-9);
    EXPECT_NEAR(at[1] * second_size.height / first_size.height, second_at[1],
                1e-9);
  }
}

// A second output of that size, of the source `times` as large.
Geometry Follow(const Way& way, const std::string& encoded,
                const SampleKey& key, const FollowedOutput& followed,
                const ImageSize& size, Pixels& pixels) {
  PreprocessOptions options = way.options;
  options.crop.eval_resize *= size.shorter() / kOutput.shorter();
  options.image_size = size;
  EXPECT_TRUE(SharesFraming(options, way.options));
  EXPECT_TRUE(IsExactPair(options, way.options, way.training));
  pixels.assign(size.pixels(), 1);
  return Preprocessor(options, way.training)
      .Fill(AsBytes(encoded), key, pixels, {}, nullptr, {}, &followed)
      .geometry;
}

TEST(PairTest, BothShowTheSameInEachRecipe) {
  for (const ImageSize& source :
       {ImageSize(75, 100), ImageSize(67, 45), ImageSize(20, 91)}) {
    const RgbImage image = Noise(source);
    const std::string encoded = EncodePng(image.view());
    const std::string large = EncodePng(EnlargedImage(image, 3).view());
    for (const Way& way : Ways()) {
      Preprocessor preprocessor(way.options, way.training);
      for (std::uint64_t position = 0; position < 6; ++position) {
        SCOPED_TRACE(way.name + " " + std::to_string(position));
        const SampleKey key = {.seed = 3, .position = position};
        Pixels first(kOutput.pixels());
        const FollowedOutput followed = {
            .geometry =
                preprocessor.Fill(AsBytes(encoded), key, first).geometry,
            .size = kOutput,
            .gives_framing = true};
        const Geometry& geometry = followed.geometry;
        Pixels pixels;
        EXPECT_EQ(Follow(way, encoded, key, followed, kOutput, pixels),
                  geometry);
        EXPECT_EQ(pixels, first);
        for (const int times : {2, 5}) {
          const ImageSize size(times * kOutput.height, times * kOutput.width);
          ExpectAligned(geometry, kOutput,
                        Follow(way, encoded, key, followed, size, pixels), size,
                        1);
          ExpectAligned(geometry, kOutput,
                        Follow(way, large, key, followed, size, pixels), size,
                        3);
        }
      }
    }
  }
}

// Images that are not resized: a pixel of the first output is a square of
// pixels in the second one, and so is one of an odd margin.
TEST(PairTest, PixelsAreWhereTheGeometrySays) {
  const ImageSize size(2 * kOutput.height, 2 * kOutput.width);
  for (const auto& [recipe, source] :
       {std::pair(Recipe::kCifar, kOutput),
        std::pair(Recipe::kFit, ImageSize(kOutput.height, 21))}) {
    const RgbImage image = Noise(source);
    const std::string encoded = EncodePng(image.view());
    const std::string large = EncodePng(EnlargedImage(image, 2).view());
    const Way way = {.name = "",
                     .options = {.recipe = recipe, .image_size = kOutput}};
    Preprocessor preprocessor(way.options, true);
    for (std::uint64_t position = 0; position < 20; ++position) {
      const SampleKey key = {.seed = 5, .position = position};
      Pixels first(kOutput.pixels());
      const FollowedOutput followed = {
          .geometry = preprocessor.Fill(AsBytes(encoded), key, first).geometry,
          .size = kOutput,
          .gives_framing = true};
      Pixels second;
      const Geometry geometry = Follow(way, large, key, followed, size, second);
      EXPECT_EQ(geometry.padding, 2 * followed.geometry.padding);
      for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
          ASSERT_EQ(
              second[static_cast<std::size_t>(y * size.width + x)],
              first[static_cast<std::size_t>(y / 2 * kOutput.width + x / 2)])
              << position << ": " << y << ", " << x;
        }
      }
    }
  }
}

TEST(PairTest, PackedPixelsFollowWholeImagesOnly) {
  Pixels words(kOutput.pixels());
  PackImage(Noise(kOutput).view(), false, words);
  const std::string packed = LittleEndianBytes(words);
  Preprocessor preprocessor({.image_size = kOutput}, true);
  const auto copy = [&](const FollowedOutput* followed) {
    return preprocessor.CopyPacked(AsBytes(packed), kOutput.height,
                                   kOutput.width, {}, words, {}, followed);
  };
  FollowedOutput followed = {.geometry = copy(nullptr).geometry,
                             .size = kOutput,
                             .gives_framing = true};
  EXPECT_EQ(copy(&followed).geometry, followed.geometry);
  --followed.geometry.window.height;
  EXPECT_THAT(MessageOf<DataError>([&] { copy(&followed); }),
              HasSubstr("packed pixels are a whole image"));
}

TEST(PairTest, SizesThatKeepItFromBeingExactAreKnown) {
  const auto is_exact = [](Recipe recipe, bool training,
                           const ImageSize& size) {
    return IsExactPair({.recipe = recipe, .image_size = size},
                       {.recipe = recipe, .image_size = 32}, training);
  };
  for (const auto& [name, recipe] : kRecipes) {
    for (const bool training : {true, false}) {
      SCOPED_TRACE(std::string(name) + (training ? " training" : ""));
      const bool any_size = recipe == Recipe::kTpu ||
                            recipe == Recipe::kPlain ||
                            (recipe == Recipe::kTorchvision && training) ||
                            (recipe == Recipe::kCifar && !training);
      EXPECT_TRUE(is_exact(recipe, training, 32));
      EXPECT_TRUE(is_exact(recipe, training, 96));
      for (const ImageSize& size :
           {ImageSize(16), ImageSize(48), ImageSize(64, 32)}) {
        EXPECT_EQ(is_exact(recipe, training, size), any_size) << size;
      }
    }
  }
}

TEST(PairTest, OtherCropsAreNoPair) {
  const PreprocessOptions first = {.recipe = Recipe::kTorchvision,
                                   .crop = {.eval_resize = 40},
                                   .image_size = 32};
  PreprocessOptions second = first;
  second.image_size = 64;
  second.random_flip = false;
  second.interpolation = Interpolation::kBilinear;
  EXPECT_TRUE(SharesFraming(second, first));
  second.crop.eval_resize = 80;
  EXPECT_TRUE(SharesFraming(second, first));
  second.crop.eval_resize = 90;
  EXPECT_FALSE(SharesFraming(second, first));
  second.crop = {.scale = 0.5F, .eval_resize = 40};
  EXPECT_FALSE(SharesFraming(second, first));
  EXPECT_FALSE(SharesFraming({.recipe = Recipe::kCifar}, {}));
  EXPECT_TRUE(SharesFraming({.recipe = Recipe::kFit, .fit = {.fill = 0}},
                            {.recipe = Recipe::kFit}));
}

}  // namespace infeed::pair_test
