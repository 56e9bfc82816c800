#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/resize.h"
#include "tests/support/test_jpeg.h"

// Pixels that Pillow, torchvision, PyTorch and TensorFlow made;
// tests/data/README.recipes.md says how.
namespace infeed {
namespace recipe_golden_test {

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
    Compare(pixels);
    EXPECT_EQ(unequal_, 0);
  }

  // Expects them within a level, nearly all the same.
  void ExpectNear(std::span<const std::uint32_t> pixels) {
    Compare(pixels);
    EXPECT_EQ(far_, 0);
    EXPECT_LE(100 * unequal_, std::ssize(pixels) * 3);
  }

 private:
  void Compare(std::span<const std::uint32_t> pixels) {
    ASSERT_LE(at_ + pixels.size() * 3, bytes_.size());
    unequal_ = 0;
    far_ = 0;
    for (const std::uint32_t pixel : pixels) {
      for (int shift = 24; shift > 0; shift -= 8) {
        const int level = static_cast<int>(pixel >> shift & 255);
        const int golden = static_cast<unsigned char>(bytes_[at_++]);
        unequal_ += level != golden;
        far_ += std::abs(level - golden) > 1;
      }
    }
  }

  std::string bytes_;
  std::size_t at_ = 0;
  std::ptrdiff_t unequal_ = 0;
  std::ptrdiff_t far_ = 0;
};

std::vector<std::uint32_t> Filled(const PreprocessOptions& options,
                                  const std::string& encoded,
                                  std::uint64_t position = 0) {
  Preprocessor preprocessor(options);
  std::vector<std::uint32_t> pixels(
      static_cast<std::size_t>(options.image_size * options.image_size));
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

TEST(ResizeGoldenTest, AntialiasGivesPillowsBytes) {
  Goldens goldens("recipes/resize_antialias.rgb");
  for (const Size& size : kResizes) {
    goldens.ExpectEqual(Resized(ResizeKernel::kAntialias, size));
  }
}

TEST(ResizeGoldenTest, BilinearFollowsPyTorch) {
  Goldens goldens("recipes/resize_bilinear.rgb");
  for (const Size& size : kResizes) {
    goldens.ExpectNear(Resized(ResizeKernel::kBilinear, size));
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
    goldens.ExpectEqual(Filled(
        {.recipe = Recipe::kTorchvision, .image_size = kSize}, jpeg, position));
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
        {.recipe = Recipe::kTorchvision, .training = false, .image_size = size},
        jpeg));
  }
}

INSTANTIATE_TEST_SUITE_P(Images, RecipeGoldenTest,
                         testing::Values("h2v2", "h1v1", "gray"));

TEST(CifarGoldenTest, TrainsOnTorchvisionsPixels) {
  const std::string png = Data("recipes/cifar.png");
  Goldens goldens("recipes/cifar_train.rgb");
  for (std::uint64_t position = 0; position < 6; ++position) {
    goldens.ExpectEqual(
        Filled({.recipe = Recipe::kCifar, .image_size = kSize}, png, position));
  }
}

}  // namespace recipe_golden_test
}  // namespace infeed
