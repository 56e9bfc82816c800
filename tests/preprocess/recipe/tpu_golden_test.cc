#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/resize.h"
#include "tests/support/print_window.h"
#include "tests/support/test_jpeg.h"

// What TensorFlow makes of the recipe tpu; tests/data/README.recipes.md says
// how.
namespace infeed {
namespace tpu_golden_test {

constexpr int kSize = 32;
constexpr int kPositions = 6;  // of seed 1, epoch 0

std::string Data(const std::string& name) {
  return ReadWholeFile(INFEED_TEST_DATA "/recipes/" + name, 1 << 20);
}

// Which columns TensorFlow's decoder of windows takes no part in whose first or
// last column is wrong: that of subsampled images.
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

struct Difference {
  int compared = 0;  // samples
  int unequal = 0;
  int far = 0;  // more than a level
};

Difference Compare(const std::vector<std::uint32_t>& pixels, const char* golden,
                   const std::vector<bool>& columns) {
  Difference difference;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    for (int c = 0; columns[i % kSize] && c < 3; ++c) {
      const int level = static_cast<int>(pixels[i] >> (24 - 8 * c) & 255);
      const int expected = static_cast<unsigned char>(golden[3 * i + c]);
      ++difference.compared;
      difference.unequal += level != expected;
      difference.far += std::abs(level - expected) > 1;
    }
  }
  return difference;
}

class TpuGoldenTest : public testing::TestWithParam<const char*> {
 protected:
  TpuGoldenTest()
      : jpeg_(Data(GetParam() + std::string(".jpg"))),
        goldens_(Data(GetParam() + std::string("_tpu.rgb"))) {
    JpegDecoder decoder;
    info_ = decoder.ReadHeader(AsBytes(jpeg_));
  }

  // The pixels of golden `at`.
  void Expect(const PreprocessOptions& options, const SampleKey& key,
              const Window& window, bool flip, int at) {
    Preprocessor preprocessor(options);
    std::vector<std::uint32_t> pixels(std::size_t{kSize} * kSize);
    preprocessor.Fill(AsBytes(jpeg_), key, pixels);
    ASSERT_GE(goldens_.size(), pixels.size() * 3 * (at + 1));
    const Difference difference = Compare(
        pixels, goldens_.data() + pixels.size() * 3 * at,
        ColumnsToCompare(window, GetParam() == std::string("h2v2"), flip));
    EXPECT_GT(difference.compared, 3 * kSize * kSize * 9 / 10);
    EXPECT_EQ(difference.far, 0);
    EXPECT_LE(100 * difference.unequal, difference.compared);
  }

  std::string jpeg_;
  std::string goldens_;
  JpegInfo info_;
};

TEST_P(TpuGoldenTest, TrainsOnTensorFlowsPixels) {
  std::istringstream windows(Data("tpu_windows.txt"));
  std::string name;
  SampleKey key{.seed = 1};
  Window window;
  bool flip = false;
  int count = 0;
  while (windows >> name >> key.position >> window.y >> window.x >>
         window.height >> window.width >> flip) {
    if (name == GetParam()) {
      SampleRandom random(key, RandomStream::kCrop);
      EXPECT_EQ(TrainingWindow(info_.height, info_.width, info_.components,
                               kSize, random),
                window);
      Expect({.image_size = kSize}, key, window, flip, count++);
    }
  }
  EXPECT_EQ(count, kPositions);
}

TEST_P(TpuGoldenTest, EvaluatesOnTensorFlowsPixels) {
  Expect({.training = false, .image_size = kSize}, {},
         CenterCropWindow(info_.height, info_.width, kSize), false, kPositions);
}

INSTANTIATE_TEST_SUITE_P(Images, TpuGoldenTest,
                         testing::Values("h2v2", "h1v1", "gray"));

}  // namespace tpu_golden_test
}  // namespace infeed
