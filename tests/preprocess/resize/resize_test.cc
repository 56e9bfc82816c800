#include "preprocess/resize/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "preprocess/pixels/pack.h"
#include "tests/support/each_target.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

std::vector<std::uint32_t> Resized(const RgbView& image, int size,
                                   bool flip = false) {
  std::vector<std::uint32_t> pixels(std::size_t{1} * size * size);
  ResizeBicubic(image, size, flip, pixels);
  return pixels;
}

// The formula in floating point, one dimension at one place.
struct FloatTaps {
  int index[4];
  double weight[4];
};

FloatTaps FormulaAt(int out_index, int in_size, int out_size) {
  const float place =
      static_cast<float>(out_index) * (static_cast<float>(in_size) / out_size);
  const double whole = std::floor(place);
  const double x = std::rint((place - whole) * 1024) / 1024;
  const auto near = [](double d) { return (1.25 * d - 2.25) * d * d + 1; };
  const auto far = [](double d) {
    const double e = d + 1;
    return ((-0.75 * e + 3.75) * e - 6) * e + 3;
  };
  FloatTaps taps{{}, {far(x), near(x), near(1 - x), far(1 - x)}};
  for (int i = 0; i < 4; ++i) {
    taps.index[i] = std::clamp(static_cast<int>(whole) - 1 + i, 0, in_size - 1);
  }
  return taps;
}

double FormulaPixel(const RgbView& image, int size, int y, int x, int channel) {
  const FloatTaps rows = FormulaAt(y, image.height, size);
  const FloatTaps columns = FormulaAt(x, image.width, size);
  double value = 0;
  for (int c = 0; c < 4; ++c) {
    for (int r = 0; r < 4; ++r) {
      value += columns.weight[c] * rows.weight[r] *
               image.row(rows.index[r])[columns.index[c] * 3 + channel];
    }
  }
  return std::clamp(std::floor(value + 0.5), 0.0, 255.0);
}

int Channel(std::uint32_t pixel, int channel) {
  return static_cast<int>(pixel >> (24 - 8 * channel) & 255);
}

// Expects every level within one of the formula, and nearly all equal to it.
void ExpectFormula(const RgbView& image, int size) {
  const std::vector<std::uint32_t> pixels = Resized(image, size);
  int unequal = 0;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double difference = std::abs(Channel(pixels[y * size + x], c) -
                                           FormulaPixel(image, size, y, x, c));
        ASSERT_LE(difference, 1) << y << " " << x;
        unequal += difference > 0;
      }
    }
  }
  EXPECT_LE(unequal, size * size * 3 / 50)
      << image.width << "x" << image.height << " to " << size;
}

TEST(ResizeBicubicTest, FollowsTheFormulaAtManySizes) {
  struct Case {
    int width;
    int height;
    int size;
  };
  for (const Case& c : {Case{224, 224, 224},
                        {300, 250, 224},
                        {97, 131, 64},
                        {20, 20, 97},
                        {400, 390, 65},
                        {1, 50, 31},
                        {50, 1, 31},
                        {1, 1, 9},
                        {2, 3, 40},
                        {320, 240, 28},
                        {37, 41, 1},
                        {511, 17, 100}}) {
    ExpectFormula(TestPhotograph(c.width, c.height, 7).view(), c.size);
  }
}

// A row of gray levels resized to `size`: the first row of the result.
std::vector<int> ResizedLevels(const std::vector<int>& levels, int size) {
  RgbImage image;
  image.Resize(static_cast<int>(levels.size()), 1);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::fill_n(image.row(0) + i * 3, 3, static_cast<std::uint8_t>(levels[i]));
  }
  const std::vector<std::uint32_t> pixels = Resized(image.view(), size);
  std::vector<int> result;
  for (int x = 0; x < size; ++x) {
    result.push_back(Channel(pixels[x], 0));
  }
  return result;
}

TEST(ResizeBicubicTest, GivesKnownLevels) {
  const auto expect = [](const std::vector<int>& levels,
                         const std::vector<int>& expected) {
    EXPECT_THAT(ResizedLevels(levels, static_cast<int>(expected.size())),
                ElementsAreArray(expected));
  };
  expect({0, 10, 20, 30}, {0, 4, 10, 15, 20, 26, 30, 31});
  expect({0, 0, 255, 255}, {0, 0, 0, 128, 255, 255, 255, 255});
  expect({0, 10, 20, 30, 40, 50, 60, 70}, {0, 20, 40, 60});
  expect({10, 200, 30, 90, 250}, {10, 87, 147});
  expect({10, 200, 30, 90, 250}, {10, 168, 144, 22, 68, 188, 255});
}

TEST(ResizeBicubicTest, KeepsAnImageOfTheSameSize) {
  const RgbImage image = TestPhotograph(50, 50, 1);
  std::vector<std::uint32_t> packed(2500);
  PackImage(image.view(), false, packed);
  EXPECT_EQ(Resized(image.view(), 50), packed);
}

TEST(ResizeBicubicTest, KeepsFlatAreasFlat) {
  RgbImage image;
  image.Resize(37, 23);
  for (int level = 0; level < 256; ++level) {
    std::fill(image.pixels().begin(), image.pixels().end(), level);
    for (const std::uint32_t pixel : Resized(image.view(), 50)) {
      ASSERT_EQ(pixel, PackPixel(level, level, level));
    }
  }
}

TEST(ResizeBicubicTest, FlipMirrorsTheRows) {
  const RgbImage image = TestPhotograph(60, 44, 1);
  std::vector<std::uint32_t> pixels = Resized(image.view(), 31);
  for (int y = 0; y < 31; ++y) {
    std::reverse(pixels.begin() + y * 31, pixels.begin() + (y + 1) * 31);
  }
  EXPECT_EQ(Resized(image.view(), 31, true), pixels);
}

TEST(FourTapAxisTest, TapsAreTheReferencesTable) {
  // In 2^-14: near 1, 0.87890625, 0.59375, 0.26171875; far 0, -0.10546875,
  // -0.09375, -0.03515625.
  const auto weights = [](int out_index) {
    return FourTapAxis(ResizeKernel::kBicubic, 2, 8).At(out_index).weight;
  };
  EXPECT_THAT(weights(0), ElementsAreArray({0, 16384, 0, 0}));
  EXPECT_THAT(weights(1), ElementsAreArray({-1728, 14400, 4288, -576}));
  EXPECT_THAT(weights(2), ElementsAreArray({-1536, 9728, 9728, -1536}));
  EXPECT_THAT(weights(3), ElementsAreArray({-576, 4288, 14400, -1728}));
}

TEST(FourTapAxisTest, WeightsSumToOneAndTapsStayInside) {
  const FourTapAxis axis(ResizeKernel::kBicubic, 7, 1021);
  for (int out_index = 0; out_index < 1021; ++out_index) {
    const FourTaps taps = axis.At(out_index);
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
      sum += taps.weight[i];
    }
    EXPECT_GE(taps.first, -1);
    EXPECT_LT(taps.first, 7);
    EXPECT_EQ(sum, 1 << 14);
  }
}

TEST(FourTapAxisTest, EachTargetHasTheNeighboursTaps) {
  std::vector<FourTaps> taps;
  const auto expect_equal = [&](const FourTapAxis& axis, int first, int end) {
    taps.resize(static_cast<std::size_t>(end - first));
    axis.At(first, taps);
    for (int i = first; i < end; ++i) {
      const FourTaps& taken = taps[static_cast<std::size_t>(i - first)];
      const FourTaps one = axis.At(i);
      ASSERT_EQ(taken.first, one.first) << i;
      ASSERT_EQ(taken.weight, one.weight) << i;
    }
  };
  constexpr std::pair<int, int> kSizes[] = {
      {1, 1},    {2, 8},    {7, 1021},     {500, 224},    {333, 299},
      {224, 37}, {1021, 7}, {65535, 4000}, {65500, 4099}, {3, 65535}};
  OnEachSimdTarget([&] {
    for (const auto kernel :
         {ResizeKernel::kBicubic, ResizeKernel::kBilinear}) {
      for (const auto& [in, out] : kSizes) {
        SCOPED_TRACE(in);
        const FourTapAxis axis(kernel, in, out);
        expect_equal(axis, 0, out);
        expect_equal(axis, out / 3, out);
      }
    }
  });
}

TEST(PackImageTest, PacksRedHighest) {
  RgbImage image;
  image.Resize(2, 1);
  const std::uint8_t bytes[] = {1, 2, 3, 0xFE, 0xDC, 0xBA};
  std::copy_n(bytes, 6, image.row(0));
  std::vector<std::uint32_t> packed(2);
  PackImage(image.view(), false, packed);
  EXPECT_THAT(packed, ElementsAreArray({0x01020300U, 0xFEDCBA00U}));
  PackImage(image.view(), true, packed);
  EXPECT_THAT(packed, ElementsAreArray({0xFEDCBA00U, 0x01020300U}));
}

TEST(PackImageTest, FlipMirrorsEachRowOfAWindow) {
  const RgbImage image = TestPhotograph(9, 7, 1);
  const RgbView window = image.view({.y = 2, .x = 3, .height = 4, .width = 5});
  std::vector<std::uint32_t> plain(20);
  std::vector<std::uint32_t> mirrored(20);
  PackImage(window, false, plain);
  PackImage(window, true, mirrored);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(plain[i], mirrored[i / 5 * 5 + 4 - i % 5]);
  }
  EXPECT_EQ(plain[0],
            PackPixel(window.row(0)[0], window.row(0)[1], window.row(0)[2]));
}

}  // namespace
}  // namespace infeed
