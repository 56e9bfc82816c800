#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/geometry.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/resize.h"
#include "tests/support/bytes.h"
#include "tests/support/test_jpeg.h"

// Every recipe with every interpolation, against decode, resize and crop of the
// whole image.
namespace infeed::recipe_kernels_test {

constexpr int kSize = 32;
constexpr int kHeight = 170;
constexpr int kWidth = 210;
using Pixels = std::vector<std::uint32_t>;

struct Kernel {
  Interpolation interpolation;
  ResizeKernel kernel;
};
constexpr std::array kKernels = {
    Kernel{Interpolation::kBicubic, ResizeKernel::kBicubic},
    Kernel{Interpolation::kBilinear, ResizeKernel::kBilinear},
    Kernel{Interpolation::kAntialias, ResizeKernel::kAntialias},
    Kernel{Interpolation::kAntialiasBicubic, ResizeKernel::kAntialiasBicubic}};

Framing ExpectedFraming(Recipe recipe, bool training, const SampleKey& key,
                        const ImageSize& size = kSize) {
  SampleRandom random(key, RandomStream::kCrop);
  if (recipe == Recipe::kTorchvision) {
    return training
               ? WholeWindow(
                     RandomResizedCropWindow(kHeight, kWidth, {}, random), size)
               : ResizedCenterCrop(kHeight, kWidth, size, EvalCover({}, size));
  }
  if (recipe == Recipe::kTpu) {
    return WholeWindow(training
                           ? TrainingWindow(kHeight, kWidth, 3, size, random)
                           : CenterCropWindow(kHeight, kWidth,
                                              EvalCropFraction({}, size), size),
                       size);
  }
  const Window whole = {0, 0, kHeight, kWidth};
  return recipe == Recipe::kFit ? FitWindow(whole, size, FitMargin::kMiddle)
                                : WholeWindow(whole, size);
}

bool IsFlipped(Recipe recipe, bool training, const SampleKey& key) {
  return training && recipe != Recipe::kPlain &&
         SampleRandom(key, RandomStream::kFlip).Real() < 0.5F;
}

// The framing of an image, step by step.
Pixels Framed(const RgbImage& image, const Framing& framing,
              ResizeKernel kernel, const ImageSize& size = kSize) {
  Pixels resized(std::size_t{1} * framing.height * framing.width);
  Resize(kernel, image.view(framing.window), framing.width, framing.height,
         resized);
  const Geometry geometry = GeometryOf(framing, {kHeight, kWidth});
  Pixels part(size.pixels(), PackPixel(114, 114, 114));
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const int from_y = y + geometry.y;
      const int from_x = x + geometry.x;
      if (from_y >= 0 && from_y < framing.height && from_x >= 0 &&
          from_x < framing.width) {
        part[static_cast<std::size_t>(y * size.width + x)] =
            resized[static_cast<std::size_t>(from_y * framing.width + from_x)];
      }
    }
  }
  return part;
}

// Moves, then mirrors, where the recipe does.
void Finish(Recipe recipe, bool training, const SampleKey& key,
            const ImageSize& size, Pixels& pixels) {
  if (recipe == Recipe::kCifar && training) {
    SampleRandom random(key, RandomStream::kCrop);
    MovePixels(DrawMove(random), size, pixels);
  }
  if (IsFlipped(recipe, training, key)) {
    MirrorRows(size.width, pixels);
  }
}

std::string Jpeg() {
  return TestJpeg(
      {.width = kWidth, .height = kHeight, .subsampling = Subsampling::k420});
}

RgbImage Decoded(const std::string& jpeg, int eighths = 8) {
  JpegDecoder decoder;
  RgbImage image;
  std::ignore = decoder.ReadHeader(AsBytes(jpeg));
  decoder.DecodeScaled(eighths, image);
  return image;
}

Pixels Filled(Preprocessor& preprocessor, const std::string& jpeg,
              const SampleKey& key, const std::string& index = "",
              const ImageSize& size = kSize) {
  Pixels pixels(size.pixels());
  preprocessor.Fill(AsBytes(jpeg), key, pixels, AsBytes(index));
  return pixels;
}

TEST(RecipeKernelsTest, PixelsAreFramesResizedAndCut) {
  const std::string jpeg = Jpeg();
  const std::string index =
      SerializeSeekIndex(MakeSeekIndex(AsBytes(jpeg), 4).value());
  const RgbImage image = Decoded(jpeg);
  const auto expect = [&](Recipe recipe, const Kernel& kernel, bool training,
                          const ImageSize& size) {
    Preprocessor preprocessor({.recipe = recipe,
                               .interpolation = kernel.interpolation,
                               .image_size = size},
                              training);
    for (std::uint64_t position = 0; position < 8; ++position) {
      const SampleKey key{.seed = 4, .position = position};
      Pixels expected =
          Framed(image, ExpectedFraming(recipe, training, key, size),
                 kernel.kernel, size);
      Finish(recipe, training, key, size, expected);
      ASSERT_EQ(Filled(preprocessor, jpeg, key, "", size), expected)
          << ChoiceName(recipe, kRecipes) << " "
          << ChoiceName(kernel.interpolation, kInterpolations) << " "
          << training << " " << size;
      ASSERT_EQ(Filled(preprocessor, jpeg, key, index, size), expected);
    }
  };
  for (const auto& [name, recipe] : kRecipes) {
    for (const Kernel& kernel : kKernels) {
      for (const bool training : {false, true}) {
        for (const ImageSize size :
             {ImageSize(kSize), ImageSize(24, 41), ImageSize(45, 19)}) {
          expect(recipe, kernel, training, size);
        }
      }
    }
  }
}

TEST(RecipeKernelsTest, RecipesHaveKernelsOfTheirOwn) {
  const std::string jpeg = Jpeg();
  for (const auto& [name, recipe] : kRecipes) {
    const bool is_bicubic = recipe == Recipe::kTpu || recipe == Recipe::kPlain;
    Preprocessor own({.recipe = recipe, .image_size = kSize}, true);
    Preprocessor named({.recipe = recipe,
                        .interpolation = is_bicubic ? Interpolation::kBicubic
                                                    : Interpolation::kAntialias,
                        .image_size = kSize},
                       true);
    EXPECT_EQ(Filled(own, jpeg, {}), Filled(named, jpeg, {}));
  }
}

// The shorter side of 170 becomes 37: halves and quarters do, eighths do not.
TEST(RecipeKernelsTest, ScaledDecodeLeavesWhatIsResizedTo) {
  const std::string jpeg = Jpeg();
  Framing framing =
      ResizedCenterCrop(kHeight, kWidth, kSize, EvalCover({}, kSize));
  framing.window = {0, 0, kHeight / 4, kWidth / 4};
  for (const Kernel& kernel : kKernels) {
    Preprocessor preprocessor({.recipe = Recipe::kTorchvision,
                               .interpolation = kernel.interpolation,
                               .image_size = kSize,
                               .scaled_decode = true},
                              false);
    EXPECT_EQ(Filled(preprocessor, jpeg, {}),
              Framed(Decoded(jpeg, 2), framing, kernel.kernel));
  }
}

TEST(RecipeKernelsTest, PackedPixelsAreMovedAndMirroredToo) {
  const RgbImage image = TestPhotograph(kSize, kSize, 1);
  Pixels packed(std::size_t{kSize} * kSize);
  PackImage(image.view(), false, packed);
  for (const auto& [name, recipe] : kRecipes) {
    for (const bool training : {false, true}) {
      Preprocessor preprocessor({.recipe = recipe, .image_size = kSize},
                                training);
      for (std::uint64_t position = 0; position < 8; ++position) {
        const SampleKey key{.position = position};
        Pixels expected = packed;
        Finish(recipe, training, key, kSize, expected);
        Pixels pixels(packed.size());
        preprocessor.CopyPacked(AsBytes(LittleEndianBytes(packed)), kSize,
                                kSize, key, pixels);
        EXPECT_EQ(pixels, expected) << name;
      }
    }
  }
}

}  // namespace infeed::recipe_kernels_test
