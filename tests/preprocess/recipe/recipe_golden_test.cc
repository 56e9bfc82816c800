#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/resize.h"
#include "tests/support/print_window.h"
#include "tests/support/test_jpeg.h"

// Pixels that Pillow, torchvision, PyTorch and TensorFlow made;
// tests/data/README.recipes.md says how.

namespace infeed::recipe_golden_test {

constexpr int kSize = 32;
constexpr SampleKey kKey{.seed = 1};  // with the positions 0..5

std::string Data(const std::string& name) {
  return ReadWholeFile(INFEED_TEST_DATA "/" + name, 1 << 20);
}

// A file of R G B bytes, read piece by piece.
class Goldens {
 public:
  explicit Goldens(const std::string& name) : bytes_(Data(name)) {}
  ~Goldens() { EXPECT_EQ(at_, bytes_.size()) << "all of the file is compared"; }

  // Expects the next pixels.
  void ExpectEqual(std::span<const std::uint32_t> pixels) {
    Compare(pixels, {});
    EXPECT_EQ(unequal_, 0);
  }

  void Skip(int images, int size) {
    at_ += static_cast<std::size_t>(images * size * size * 3);
  }

  // Expects them within a level, nearly all the same, in these columns of each
  // row; none: in all.
  void ExpectNear(std::span<const std::uint32_t> pixels,
                  const std::vector<bool>& columns = {}) {
    Compare(pixels, columns);
    EXPECT_GT(compared_, std::ssize(pixels) * 3 * 9 / 10);
    EXPECT_EQ(far_, 0);
    EXPECT_LE(100 * unequal_, compared_);
  }

 private:
  void Compare(std::span<const std::uint32_t> pixels,
               const std::vector<bool>& columns) {
    ASSERT_LE(at_ + pixels.size() * 3, bytes_.size());
    compared_ = unequal_ = far_ = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const bool is_compared = columns.empty() || columns[i % columns.size()];
      for (int shift = 24; shift > 0; shift -= 8) {
        const int level = static_cast<int>(pixels[i] >> shift & 255);
        const int golden = static_cast<unsigned char>(bytes_[at_++]);
        compared_ += is_compared;
        unequal_ += is_compared && level != golden;
        far_ += is_compared && std::abs(level - golden) > 1;
      }
    }
  }

  std::string bytes_;
  std::size_t at_ = 0;
  std::ptrdiff_t compared_ = 0;
  std::ptrdiff_t unequal_ = 0;
  std::ptrdiff_t far_ = 0;
};

std::vector<std::uint32_t> Filled(const PreprocessOptions& options,
                                  bool training, const std::string& encoded,
                                  std::uint64_t position = 0) {
  Preprocessor preprocessor(options, training);
  std::vector<std::uint32_t> pixels(options.image_size.pixels());
  SampleKey key = kKey;
  key.position = position;
  preprocessor.Fill(AsBytes(encoded), key, pixels);
  return pixels;
}

struct Size {
  int width;
  int height;
};
constexpr Size kResizes[] = {{61, 45}, {24, 17}, {70, 60}, {7, 3},
                             {30, 45}, {61, 20}, {1, 1}};

std::vector<std::uint32_t> Resized(ResizeKernel kernel, const Size& size) {
  const std::string pixels = Data("preprocess/rgb444.rgb");
  const RgbView image{reinterpret_cast<const std::uint8_t*>(pixels.data()), 61,
                      45, std::ptrdiff_t{3} * 61};
  std::vector<std::uint32_t> packed(
      static_cast<std::size_t>(size.width * size.height));
  Resize(kernel, image, size.width, size.height, packed);
  return packed;
}

TEST(ResizeGoldenTest, KernelsFollowPillowAndPyTorch) {
  Goldens antialias("recipes/resize_antialias.rgb");
  Goldens bicubic("recipes/resize_antialias_bicubic.rgb");
  Goldens bilinear("recipes/resize_bilinear.rgb");
  for (const Size& size : kResizes) {
    antialias.ExpectEqual(Resized(ResizeKernel::kAntialias, size));
    bicubic.ExpectEqual(Resized(ResizeKernel::kAntialiasBicubic, size));
    bilinear.ExpectNear(Resized(ResizeKernel::kBilinear, size));
  }
}

class RecipeGoldenTest : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static std::string Name() {
    return std::string("recipes/") + GetParam();
  }
};

TEST_P(RecipeGoldenTest, TrainsOnTorchvisionsPixels) {
  const std::string jpeg = Data(Name() + ".jpg");
  Goldens goldens(Name() + "_torchvision_train.rgb");
  for (std::uint64_t position = 0; position < 6; ++position) {
    goldens.ExpectEqual(
        Filled({.recipe = Recipe::kTorchvision, .image_size = kSize}, true,
               jpeg, position));
  }
}

TEST_P(RecipeGoldenTest, EvaluatesOnTorchvisionsPixels) {
  const std::string jpeg = Data(Name() + ".jpg");
  Goldens goldens(Name() + "_torchvision_eval.rgb");
  std::vector<int> sizes = {kSize, 56};
  if (GetParam() == std::string("h1v1")) {
    sizes.push_back(91);
  }
  for (const int size : sizes) {
    goldens.ExpectEqual(Filled(
        {.recipe = Recipe::kTorchvision, .image_size = size}, false, jpeg));
  }
}

// timm's "random" and its evaluation with the bicubic kernel.
TEST_P(RecipeGoldenTest, ResizesWithPillowsKernelsByChance) {
  const std::string jpeg = Data(Name() + ".jpg");
  Goldens goldens(Name() + "_random_interpolation.rgb");
  PreprocessOptions options{.recipe = Recipe::kTorchvision,
                            .interpolation = Interpolation::kAntialiasRandom,
                            .image_size = kSize};
  for (std::uint64_t position = 0; position < 6; ++position) {
    goldens.ExpectEqual(Filled(options, true, jpeg, position));
  }
  goldens.ExpectEqual(Filled(options, false, jpeg));
}

TEST_P(RecipeGoldenTest, EvaluatesOnTorchvisionsCrops) {
  const std::string jpeg = Data(Name() + ".jpg");
  Goldens ten(Name() + "_torchvision_ten.rgb");
  Goldens five(Name() + "_torchvision_ten.rgb");
  for (const int size : {kSize, kSize - 1}) {
    PreprocessOptions options{.recipe = Recipe::kTorchvision,
                              .crop = {.eval_resize = 37, .eval_crops = 10},
                              .image_size = size};
    // Every image has the same crops.
    for (std::uint64_t crop = 0; crop < 10; ++crop) {
      ten.ExpectEqual(Filled(options, false, jpeg, 70 + crop));
    }
    options.crop.eval_crops = 5;
    for (std::uint64_t crop = 0; crop < 5; ++crop) {
      five.ExpectEqual(Filled(options, false, jpeg, 15 + crop));
    }
    five.Skip(5, size);
  }
}

TEST_P(RecipeGoldenTest, MakesTorchvisionsPixelsOfImagesThatAreNotSquare) {
  constexpr ImageSize kOblong(24, 41);
  const std::string jpeg = Data(Name() + ".jpg");
  Goldens goldens(Name() + "_torchvision_oblong.rgb");
  for (std::uint64_t position = 0; position < 4; ++position) {
    goldens.ExpectEqual(
        Filled({.recipe = Recipe::kTorchvision, .image_size = kOblong}, true,
               jpeg, position));
  }
  PreprocessOptions options{.recipe = Recipe::kTorchvision};
  for (const int shorter_side : {24, 37, 50}) {
    options.crop.eval_resize = shorter_side;
    for (const ImageSize size : {kOblong, ImageSize(41, 24)}) {
      options.image_size = size;
      SCOPED_TRACE(SizeText(size) + " of " + std::to_string(shorter_side));
      goldens.ExpectEqual(Filled(options, false, jpeg));
    }
  }
  options.image_size = kOblong;
  options.crop.eval_crops = 10;
  for (std::uint64_t crop = 0; crop < 10; ++crop) {
    goldens.ExpectEqual(Filled(options, false, jpeg, crop));
  }
}

INSTANTIATE_TEST_SUITE_P(Images, RecipeGoldenTest,
                         testing::Values("h2v2", "h1v1", "gray"));

TEST(CifarGoldenTest, TrainsOnTorchvisionsPixels) {
  const std::string png = Data("recipes/cifar.png");
  Goldens goldens("recipes/cifar_train.rgb");
  for (std::uint64_t position = 0; position < 6; ++position) {
    goldens.ExpectEqual(Filled({.recipe = Recipe::kCifar, .image_size = kSize},
                               true, png, position));
  }
}

// The recipe tpu. The columns to compare: TensorFlow's decoder gives a wrong
// first or last column for windows of subsampled images.
std::vector<bool> ColumnsToCompare(const Window& window, bool is_subsampled,
                                   bool flip) {
  const FourTapAxis axis(ResizeKernel::kBicubic, window.width, kSize);
  std::vector<bool> columns(kSize, true);
  for (int x = 0; is_subsampled && x < kSize; ++x) {
    const int first = axis.At(x).first;
    columns[static_cast<std::size_t>(flip ? kSize - 1 - x : x)] =
        first > 0 && first + 3 < window.width - 1;
  }
  return columns;
}

TEST_P(RecipeGoldenTest, HasTensorFlowsPixelsInTheRecipeTpu) {
  const std::string jpeg = Data(Name() + ".jpg");
  const JpegInfo info = JpegDecoder().ReadHeader(AsBytes(jpeg));
  const bool is_subsampled = GetParam() == std::string("h2v2");
  Goldens goldens(Name() + "_tpu.rgb");
  std::istringstream windows(Data("recipes/tpu_windows.txt"));
  std::string name;
  SampleKey key = kKey;
  Window window;
  bool flip = false;
  int count = 0;
  while (windows >> name >> key.position >> window.y >> window.x >>
         window.height >> window.width >> flip) {
    if (name == GetParam()) {
      SampleRandom random(key, RandomStream::kCrop);
      EXPECT_EQ(TrainingWindow(info.height, info.width, info.components, kSize,
                               random),
                window);
      goldens.ExpectNear(
          Filled({.image_size = kSize}, true, jpeg, key.position),
          ColumnsToCompare(window, is_subsampled, flip));
      ++count;
    }
  }
  EXPECT_EQ(count, 6);
  window =
      CenterCropWindow(info.height, info.width, EvalCropFraction({}, kSize));
  goldens.ExpectNear(Filled({.image_size = kSize}, false, jpeg),
                     ColumnsToCompare(window, is_subsampled, false));
}

}  // namespace infeed::recipe_golden_test
