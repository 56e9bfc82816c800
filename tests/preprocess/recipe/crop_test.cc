#include "preprocess/recipe/crop.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "preprocess/recipe/options.h"
#include "tests/support/print_window.h"

namespace infeed::crop_test {

// Draws as a TensorFlow operation with two seeds does: Philox keyed by the
// first, the second in the counter's upper half; reals from 23 mantissa bits,
// integers by rejection and remainder.
class TensorFlowRandom final : public RandomSource {
 public:
  TensorFlowRandom(std::uint64_t seed, std::uint64_t seed2)
      : key_{Low(seed), Low(seed >> 32)},
        counter_{0, 0, Low(seed2), Low(seed2 >> 32)} {}

  std::uint32_t Below(std::uint32_t n) override {
    if (std::has_single_bit(n)) {
      return Word() & (n - 1);
    }
    const std::uint32_t rejected = UINT32_MAX % n + 1;
    std::uint32_t word = Word();
    while (word < rejected) {
      word = Word();
    }
    return word % n;
  }

  float Real() override {
    return std::bit_cast<float>((Word() & 0x7FFFFF) | 0x3F800000) - 1.0F;
  }

 private:
  static std::uint32_t Low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
  }

  std::uint32_t Word() {
    if (used_ == words_.size()) {
      words_ = Philox4x32(key_, counter_);
      ++counter_[0];
      used_ = 0;
    }
    return words_[used_++];
  }

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

// Real() and Below() give the lowest or the highest value there is.
class ExtremeRandom final : public RandomSource {
 public:
  explicit ExtremeRandom(bool highest) : highest_(highest) {}
  std::uint32_t Below(std::uint32_t n) override { return highest_ ? n - 1 : 0; }
  float Real() override { return highest_ ? 0x1.fffffep-1F : 0.0F; }

 private:
  bool highest_;
};

struct Golden {
  int width;
  int height;
  Window windows[4];  // with TensorFlow's seeds (1,2), (3,4), (5,6), (7,8)
};

TEST(RandomCropWindowTest, DrawsWhatTensorFlowDraws) {
  const Golden goldens[] = {
      {500,
       375,
       {{47, 197, 260, 257},
        {74, 212, 216, 278},
        {1, 53, 369, 430},
        {100, 90, 148, 134}}},
      {375,
       500,
       {{6, 34, 284, 280},
        {129, 19, 264, 340},
        {165, 119, 198, 231},
        {127, 10, 369, 334}}},
      {64,
       64,
       {{27, 24, 29, 29}, {1, 14, 26, 34}, {22, 32, 27, 31}, {22, 12, 23, 21}}},
      {1000,
       100,
       {{2, 119, 96, 121},
        {1, 367, 94, 110},
        {1, 839, 96, 112},
        {2, 115, 95, 111}}},
  };
  for (const Golden& golden : goldens) {
    for (int i = 0; i < 4; ++i) {
      TensorFlowRandom random(1 + 2 * i, 2 + 2 * i);
      EXPECT_EQ(RandomCropWindow(golden.height, golden.width, random),
                golden.windows[i]);
    }
  }
}

struct Statistics {
  int width;
  int height;
  double mean_area;
  double quantiles[5];  // 5, 25, 50, 75, 95 %
  double whole;         // share of crops that are the whole image
};

class CropStatisticsTest : public testing::TestWithParam<Statistics> {};

TEST_P(CropStatisticsTest, AreasAreDistributedAsTheReferences) {
  const auto& [width, height, mean_area, quantiles, whole] = GetParam();
  constexpr int kDraws = 40000;
  std::vector<double> areas;
  int whole_images = 0;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    SampleRandom random({.seed = 1, .epoch = 0, .position = 0ULL + i},
                        RandomStream::kCrop);
    const Window window = RandomCropWindow(height, width, random);
    areas.push_back(double{1} * window.height * window.width / height / width);
    whole_images += window.height == height && window.width == width;
    sum += areas.back();
  }
  EXPECT_NEAR(sum / kDraws, mean_area, 0.005);
  EXPECT_NEAR(1.0 * whole_images / kDraws, whole, 0.005);
  std::sort(areas.begin(), areas.end());
  const double places[5] = {.05, .25, .5, .75, .95};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(areas[static_cast<std::size_t>(places[i] * kDraws)],
                quantiles[i], 0.01);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, CropStatisticsTest,
    testing::Values(
        Statistics{500, 375, .387, {.118, .206, .352, .540, .775}, 0},
        Statistics{375, 500, .370, {.118, .200, .338, .512, .733}, 0},
        Statistics{224, 224, .422, {.120, .221, .389, .603, .824}, 0},
        Statistics{1000, 100, .179, {.101, .104, .110, .118, 1.0}, .077}));

TEST(RandomCropWindowTest, LiesInsideForRandomSizes) {
  SampleRandom sizes({.seed = 2}, RandomStream::kMadeData);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const int height = 1 + static_cast<int>(sizes.Below(600));
    const int width = 1 + static_cast<int>(sizes.Below(600));
    SampleRandom random({.seed = i}, RandomStream::kCrop);
    const Window window = RandomCropWindow(height, width, random);
    ASSERT_TRUE(IsInside(window, ImageSize(height, width)));
    ASSERT_GE(10 * window.height * window.width, height * width);
  }
}

TEST(RandomCropWindowTest, LiesInsideForExtremeDraws) {
  for (const bool highest : {false, true}) {
    for (int height = 1; height < 200; height += 3) {
      for (int width = 1; width < 200; width += 3) {
        ExtremeRandom random(highest);
        const Window window = RandomCropWindow(height, width, random);
        ASSERT_TRUE(IsInside(window, ImageSize(height, width)));
      }
    }
  }
}

TEST(RandomCropWindowTest, TakesWholeImageWhereNoCropFits) {
  const Window tiny{0, 0, 1, 1};
  const Window line{0, 0, 1, 640};
  SampleRandom random({.seed = 3}, RandomStream::kCrop);
  EXPECT_EQ(RandomCropWindow(1, 1, random), tiny);
  EXPECT_EQ(RandomCropWindow(1, 640, random), line);
}

TEST(CenterCropWindowTest, IsTheReferencesSquare) {
  const auto expect = [](int height, int width, int size, int y, int x, int c) {
    EXPECT_EQ(CenterCropWindow(height, width, EvalCropFraction({}, size)),
              (Window{y, x, c, c}))
        << height << "x" << width << " for " << size;
  };
  expect(375, 500, 224, 24, 86, 328);
  expect(500, 375, 224, 86, 24, 328);
  expect(224, 224, 224, 14, 14, 196);
  expect(256, 256, 224, 16, 16, 224);
  expect(333, 500, 224, 21, 105, 291);
  expect(100, 101, 224, 7, 7, 87);
  expect(400, 600, 224, 25, 125, 350);
  expect(375, 500, 160, 24, 87, 327);
  expect(400, 600, 160, 26, 126, 349);
  expect(1, 1, 224, 0, 0, 1);
  expect(1, 50, 224, 0, 25, 1);
}

TEST(CenterCropWindowTest, HasTheOutputsShape) {
  const ImageSize output(224, 320);
  // The height decides, then the width.
  EXPECT_EQ(CenterCropWindow(400, 1000, 0.875F, output),
            (Window{25, 250, 350, 500}));
  EXPECT_EQ(CenterCropWindow(1000, 400, 0.875F, output),
            (Window{378, 25, 245, 350}));
  EXPECT_EQ(CenterCropWindow(1, 1, 0.875F, output), (Window{0, 0, 1, 1}));
}

TEST(CenterCropWindowTest, LiesInsideForRandomShapes) {
  SampleRandom random({.seed = 3}, RandomStream::kMadeData);
  const auto draw = [&] { return 1 + static_cast<int>(random.Below(700)); };
  for (int i = 0; i < 10000; ++i) {
    const int height = draw();
    const int width = draw();
    const Window window =
        CenterCropWindow(height, width, 1, ImageSize(draw(), draw()));
    ASSERT_TRUE(IsInside(window, ImageSize(height, width)));
  }
}

TEST(TrainingWindowTest, IsTheRandomCropButForWholeImages) {
  const SampleKey key{.seed = 4};
  SampleRandom a(key, RandomStream::kCrop);
  SampleRandom b(key, RandomStream::kCrop);
  EXPECT_EQ(TrainingWindow(375, 500, 3, 224, a), RandomCropWindow(375, 500, b));
  EXPECT_EQ(TrainingWindow(1, 640, 3, 224, a),
            CenterCropWindow(1, 640, EvalCropFraction({}, 224)));
  // Gray and inks are kept whole.
  const Window whole{0, 0, 1, 640};
  EXPECT_EQ(TrainingWindow(1, 640, 1, 224, a), whole);
  EXPECT_EQ(TrainingWindow(1, 640, 4, 224, a), whole);
}

}  // namespace infeed::crop_test
