#include "preprocess/recipe/recipe.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "preprocess/pixels/pixel_hash.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/resize/resize.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed {

namespace recipe_test {

constexpr int kSize = 32;
using Pixels = std::vector<std::uint32_t>;

PreprocessOptions Options(Recipe recipe) {
  return {.recipe = recipe, .image_size = kSize};
}

Pixels Preprocessed(Preprocessor& preprocessor, const std::string& encoded,
                    const SampleKey& key) {
  Pixels pixels(std::size_t{kSize} * kSize);
  preprocessor.Fill(AsBytes(encoded), key, pixels);
  return pixels;
}

Pixels Preprocessed(Recipe recipe, bool training, const std::string& encoded,
                    const SampleKey& key = {}) {
  Preprocessor preprocessor(Options(recipe), training);
  return Preprocessed(preprocessor, encoded, key);
}

// The resize of a window of the image decoded to eighths / 8 of its size.
Pixels ExpectedScaled(const std::string& jpeg, int eighths,
                      const Window& window) {
  JpegDecoder decoder;
  RgbImage image;
  std::ignore = decoder.ReadHeader(AsBytes(jpeg));
  decoder.DecodeScaled(eighths, image);
  Pixels pixels(std::size_t{kSize} * kSize);
  ResizeBicubic(image.view(window), kSize, false, pixels);
  return pixels;
}

TEST(PreprocessorTest, DecodesLargeWindowsSmaller) {
  PreprocessOptions options = Options(Recipe::kTpu);
  options.scaled_decode = true;
  Preprocessor preprocessor(options, false);
  const auto expect = [&](int width, int height, int eighths,
                          const Window& window) {
    const std::string jpeg = TestJpeg(
        {.width = width, .height = height, .subsampling = Subsampling::k420});
    Pixels pixels(std::size_t{kSize} * kSize);
    const FillCounts counts = preprocessor.Fill(AsBytes(jpeg), {}, pixels);
    EXPECT_EQ(pixels, ExpectedScaled(jpeg, eighths, window)) << eighths;
    EXPECT_EQ(counts.decoded_pixels, window.width * window.height);
  };
  // Centre crops of 60, 69, 138 and 276 pixels.
  expect(100, 70, 8, CenterCropWindow(70, 100, EvalCropFraction({}, kSize)));
  expect(100, 80, 4, {.y = 3, .x = 8, .height = 34, .width = 34});
  expect(200, 160, 2, {.y = 3, .x = 8, .height = 34, .width = 34});
  expect(400, 320, 1, {.y = 3, .x = 8, .height = 34, .width = 34});
}

// Returns the geometry of a JPEG that has the draws of one of that size, and a
// crop of its own.
Geometry Following(Preprocessor& preprocessor, const std::string& jpeg,
                   const SampleKey& key, const ImageSize& source) {
  FollowedOutput followed;
  followed.geometry.source = source;
  followed.size = kSize;
  Pixels pixels(std::size_t{kSize} * kSize);
  return preprocessor
      .Fill(AsBytes(jpeg), key, pixels, {}, nullptr, {}, &followed)
      .geometry;
}

TEST(PreprocessorTest, SharedDrawsOfAWholeRatioHaveOneWindow) {
  const std::string small = TestJpeg({.width = 40, .height = 36});
  const std::string large = TestJpeg({.width = 120, .height = 108});
  for (const auto& [name, recipe] : kRecipes) {
    for (const bool training : {true, false}) {
      Preprocessor preprocessor(Options(recipe), training);
      for (std::uint64_t position = 0; position < 20; ++position) {
        SCOPED_TRACE(std::string(name) + std::to_string(position));
        const SampleKey key = {.seed = 3, .position = position};
        Pixels pixels(std::size_t{kSize} * kSize);
        Geometry expected =
            preprocessor.Fill(AsBytes(small), key, pixels).geometry;
        EXPECT_EQ(Following(preprocessor, small, key, {36, 40}), expected);
        const Window& window = expected.window;
        expected.window = {.y = 3 * window.y,
                           .x = 3 * window.x,
                           .height = 3 * window.height,
                           .width = 3 * window.width};
        expected.source = {108, 120};
        EXPECT_EQ(Following(preprocessor, large, key, {36, 40}), expected);
      }
    }
  }
}

TEST(PreprocessorTest, SharedDrawsOfAnotherRatioAreRefusedIfCropped) {
  const std::string jpeg = TestJpeg({.width = 60, .height = 54});
  for (const auto& [name, recipe] : kRecipes) {
    SCOPED_TRACE(std::string(name));
    Preprocessor preprocessor(Options(recipe), true);
    const bool is_cropped =
        recipe == Recipe::kTpu || recipe == Recipe::kTorchvision;
    // 1.5 times as large, half as large, and twice as large one way only.
    for (const ImageSize& followed :
         {ImageSize(36, 40), ImageSize(108, 120), ImageSize(27, 60)}) {
      const std::string refusal = MessageOf<DataError>(
          [&] { (void)Following(preprocessor, jpeg, {}, followed); });
      EXPECT_EQ(refusal, is_cropped
                             ? "the image has 60x54 pixels, the one that it "
                               "follows " +
                                   std::to_string(followed.width) + "x" +
                                   std::to_string(followed.height) +
                                   ": expected that size, or a whole multiple "
                                   "of it"
                             : "");
    }
  }
}

TEST(PreprocessorTest, ImagesLeaveNothingBehind) {
  Preprocessor preprocessor(Options(Recipe::kTpu), true);
  const std::string large = TestJpeg({.width = 200, .height = 150});
  const std::string small = TestJpeg({.width = 40, .height = 30, .seed = 2});
  std::ignore = Preprocessed(preprocessor, large, {});
  EXPECT_EQ(Preprocessed(preprocessor, small, {}),
            Preprocessed(Recipe::kTpu, true, small));
}

TEST(PreprocessorTest, CountsPixelsAndTimeOfBothHalves) {
  Preprocessor evaluation(Options(Recipe::kTpu), false);
  Pixels pixels(std::size_t{kSize} * kSize);
  const std::string jpeg = TestJpeg({.width = 500, .height = 375});
  const auto start = std::chrono::steady_clock::now();
  const FillCounts counts = evaluation.Fill(AsBytes(jpeg), {}, pixels);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  // The last output pixel's taps end 8 pixels before the centre crop's edge.
  EXPECT_EQ(counts.decoded_pixels, 316 * 316);
  EXPECT_EQ(counts.outside_pixels, 500 * (26 + 316) - 316 * 316);
  EXPECT_GT(counts.decode.count(), 0);
  EXPECT_GT(counts.resize.count(), 0);
  EXPECT_LE(counts.decode + counts.resize, elapsed);
}

TEST(PreprocessorTest, RefusesASizeBelowOne) {
  EXPECT_EQ(
      MessageOf<UsageError>([] { Preprocessor({.image_size = 0}, true); }),
      "PreprocessOptions::image_size must be above 0");
}

TEST(PreprocessorDeathTest, FillsSlotsOfItsSize) {
  Preprocessor preprocessor(Options(Recipe::kTpu), false);
  Pixels pixels(std::size_t{kSize} * kSize - 1);
  EXPECT_DEATH(preprocessor.Fill(AsBytes(TestJpeg()), {}, pixels),
               "the destination has the given size");
}

// 2x2 pixels, the low bytes of which are to be cleared.
const std::string kPacked = LittleEndianBytes(std::array<std::uint32_t, 4>{
    0x01020309, 0x04050609, 0x07080909, 0x0A0B0C09});

std::vector<std::uint32_t> Copied(bool training, const SampleKey& key) {
  Preprocessor preprocessor({.image_size = 2}, training);
  std::vector<std::uint32_t> pixels(4);
  preprocessor.CopyPacked(AsBytes(kPacked), 2, 2, key, pixels);
  return pixels;
}

TEST(PreprocessorTest, CopiesPackedPixels) {
  EXPECT_THAT(Copied(false, {}), testing::ElementsAre(0x01020300, 0x04050600,
                                                      0x07080900, 0x0A0B0C00));
}

TEST(PreprocessorTest, FlipsNothingUnlessItMay) {
  Preprocessor preprocessor({.random_flip = false, .image_size = 2}, true);
  std::vector<std::uint32_t> pixels(4);
  for (std::uint64_t position = 0; position < 20; ++position) {
    preprocessor.CopyPacked(AsBytes(kPacked), 2, 2, {.position = position},
                            pixels);
    EXPECT_EQ(pixels, Copied(false, {}));
  }
}

constexpr AugmentOptions kAugment{.policy = AugmentPolicy::kRandAugment,
                                  .hue = 0.2F};

PreprocessOptions Augmenting(int size) {
  return {.image_size = size, .augment = kAugment};
}

TEST(PreprocessorTest, AugmentsWhatItWouldFillInTraining) {
  const std::string jpeg = TestJpeg({.width = 90, .height = 70});
  Preprocessor preprocessor(Augmenting(kSize), true);
  Augmenter augmenter(kAugment, kSize);
  for (std::uint64_t position = 0; position < 20; ++position) {
    const SampleKey key{.position = position};
    Pixels expected = Preprocessed(Recipe::kTpu, true, jpeg, key);
    augmenter.Apply(expected, key);
    ASSERT_EQ(Preprocessed(preprocessor, jpeg, key), expected) << position;
  }
}

TEST(PreprocessorTest, AugmentsPackedPixelsInTraining) {
  Preprocessor preprocessor(Augmenting(2), true);
  Augmenter augmenter(kAugment, 2);
  for (std::uint64_t position = 0; position < 20; ++position) {
    const SampleKey key{.position = position};
    Pixels expected = Copied(true, key);
    augmenter.Apply(expected, key);
    Pixels pixels(4);
    preprocessor.CopyPacked(AsBytes(kPacked), 2, 2, key, pixels);
    ASSERT_EQ(pixels, expected) << position;
  }
}

std::uint64_t MadeOf(const PreprocessOptions& options,
                     const SampleKey& key = {}, int quality = 90) {
  Preprocessor preprocessor(options, true);
  Pixels pixels(options.image_size.pixels());
  const std::string image =
      TestJpeg({.width = 90, .height = 70, .quality = quality});
  return preprocessor.Fill(AsBytes(image), key, pixels).made;
}

TEST(PreprocessorTest, HashesHowAnImageWasMade) {
  const PreprocessOptions plain = Options(Recipe::kTorchvision);
  PreprocessOptions bicubic = plain;
  bicubic.interpolation = Interpolation::kAntialiasBicubic;
  PreprocessOptions gray = plain;
  gray.augment.grayscale = 1;
  PreprocessOptions jitter = plain;
  jitter.augment.hue = 0.1F;
  const std::set<std::uint64_t> hashes = {
      MadeOf(plain),         MadeOf(plain, {.position = 1}),
      MadeOf(plain, {}, 50), MadeOf(bicubic),
      MadeOf(gray),          MadeOf(Options(Recipe::kTpu)),
      MadeOf(jitter),        MadeOf(jitter, {.position = 1})};
  EXPECT_EQ(hashes.size(), 8U);
  EXPECT_EQ(MadeOf(jitter), MadeOf(jitter));
  // An option without an effect on the image.
  PreprocessOptions other = plain;
  other.crop.eval_resize = 77;
  EXPECT_EQ(MadeOf(other), MadeOf(plain));
}

// Rows may be hashed as they are made, or the whole image in the end.
TEST(PreprocessorTest, HashesThePixelsForAnyUse) {
  PreprocessOptions augmented = Options(Recipe::kTorchvision);
  augmented.augment.hue = 0.1F;
  const std::string jpeg = TestJpeg({.width = 90, .height = 70});
  for (const PreprocessOptions& options :
       {Options(Recipe::kTpu), Options(Recipe::kCifar), Options(Recipe::kFit),
        augmented}) {
    Pixels pixels(options.image_size.pixels());
    const auto fill = [&](PixelUse use) {
      return Preprocessor(options, true, use).Fill(AsBytes(jpeg), {}, pixels);
    };
    FillCounts expected = fill({});
    expected.AddPixels(HashPixels(std::as_bytes(std::span(pixels))));
    EXPECT_EQ(fill({.hashed = true}).made, expected.made);
    EXPECT_EQ(fill({.read = true, .hashed = true}).made, expected.made);
  }
}

TEST(PreprocessorTest, HashesPackedPixelsAfterTheyAreMade) {
  Pixels pixels(4);
  const auto copy = [&](PixelUse use) {
    return Preprocessor(Augmenting(2), true, use)
        .CopyPacked(AsBytes(kPacked), 2, 2, {}, pixels);
  };
  FillCounts expected = copy({});
  expected.AddPixels(HashPixels(std::as_bytes(std::span(pixels))));
  EXPECT_EQ(copy({.hashed = true}).made, expected.made);
}

TEST(PreprocessorTest, TheHashOfPackedPixelsIsKnownWithoutThem) {
  Preprocessor preprocessor({.image_size = 2}, true);
  Pixels pixels(4);
  for (std::uint64_t position = 0; position < 20; ++position) {
    const FillCounts counts = preprocessor.CopyPacked(
        AsBytes(kPacked), 2, 2, {.position = position}, pixels);
    EXPECT_EQ(counts.made, HashOfPacked(2, counts.geometry.is_mirrored));
  }
}

TEST(PreprocessorTest, CopiesPackedPixelsOfItsSizeOnly) {
  const std::span<const std::byte> packed = AsBytes(kPacked);
  Preprocessor oblong({.image_size = {1, 4}}, false);
  Pixels pixels(4);
  oblong.CopyPacked(packed, 1, 4, {}, pixels);
  EXPECT_EQ(pixels, Copied(false, {}));
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { oblong.CopyPacked(packed, 4, 1, {}, pixels); }),
              testing::HasSubstr(
                  "packed pixels of 4x1 where image_size is 1x4: read them "
                  "with image_size 4x1, or convert again with --image_size "
                  "1x4"));
  Preprocessor square({.image_size = 3}, true);
  pixels.resize(9);
  const auto refusal = [&](std::int64_t side) {
    return MessageOf<DataError>(
        [&] { square.CopyPacked(packed, side, side, {}, pixels); });
  };
  EXPECT_THAT(refusal(2),
              testing::HasSubstr(
                  "packed pixels of 2x2 where image_size is 3: read them with "
                  "image_size 2, or convert again with --image_size 3"));
  EXPECT_THAT(refusal(3),
              testing::HasSubstr("image/packed has 16 bytes, expected 36"));
}

}  // namespace recipe_test

namespace preprocessor_warning_test {

constexpr int kSize = 32;
using Pixels = std::vector<std::uint32_t>;

class PreprocessorWarningTest : public testing::Test {
 protected:
  [[nodiscard]] static PreprocessOptions Options(bool lenient) {
    return {.recipe = Recipe::kPlain, .image_size = kSize, .lenient = lenient};
  }
  [[nodiscard]] FillCounts Fill(bool lenient, const std::string& encoded) {
    Preprocessor preprocessor(Options(lenient), false);
    return preprocessor.Fill(AsBytes(encoded), {}, pixels_);
  }

  const std::string whole_ = TestJpeg({.width = 90, .height = 70});
  const std::string cut_ = whole_.substr(0, whole_.size() * 3 / 4);
  Pixels pixels_ = Pixels(std::size_t{kSize} * kSize);
};

TEST_F(PreprocessorWarningTest, LeavesThePixelsOfLibjpegsTolerantDecode) {
  EXPECT_EQ(Fill(true, cut_).warning, "Premature end of JPEG file");
  JpegDecoder decoder({}, JpegWarnings::kTolerated);
  RgbImage image;
  std::ignore = decoder.ReadHeader(AsBytes(cut_));
  decoder.Decode(image);
  EXPECT_FALSE(decoder.was_plain());
  Pixels expected(pixels_.size());
  ResizeBicubic(image.view(), kSize, false, expected);
  EXPECT_EQ(pixels_, expected);
}

TEST_F(PreprocessorWarningTest, WarningIsNotKeptForTheNextImage) {
  Preprocessor preprocessor(Options(true), false);
  EXPECT_NE(preprocessor.Fill(AsBytes(cut_), {}, pixels_).warning, "");
  EXPECT_EQ(preprocessor.Fill(AsBytes(whole_), {}, pixels_).warning, "");
  const Pixels after = pixels_;
  (void)Fill(false, whole_);
  EXPECT_EQ(after, pixels_);
}

}  // namespace preprocessor_warning_test

}  // namespace infeed
