#include "preprocess/bicubic_sink.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "preprocess/resize.h"
#include "preprocess/simd_target.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

constexpr std::uint32_t kGuard = 0xDEADBEEF;

// The first rows of an image, as if a decoder stopped there.
void PutFirstRows(const RgbView& image, int rows, RowSink& sink) {
  sink.Begin(image.width, image.height);
  for (int y = 0; y < rows; ++y) {
    std::memcpy(sink.Next(1).row(0), image.row(y),
                std::size_t{3} * image.width);
    sink.Filled();
  }
}

// Black and white at random: the largest sums there are.
RgbImage HardEdges(int width, int height) {
  RgbImage image;
  image.Resize(width, height);
  SampleRandom random({}, RandomStream::kMadeData);
  for (std::uint8_t& sample : image.pixels()) {
    sample = random.Below(2) == 0 ? 0 : 255;
  }
  return image;
}

std::vector<std::uint32_t> Twin(const RgbView& image, int size, bool flip) {
  std::vector<std::uint32_t> pixels(std::size_t{1} * size * size);
  ResizeBicubic(image, size, flip, pixels);
  return pixels;
}

class BicubicSinkTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { UseSimdTarget(GetParam()); }
  void TearDown() override { UseSimdTarget(""); }

  static void ExpectTwin(const RgbView& image, int size, bool flip, int band) {
    BicubicSink sink(size);
    ExpectTwin(image, size, flip, band, sink);
  }

  static void ExpectTwin(const RgbView& image, int size, bool flip, int band,
                         BicubicSink& sink) {
    const std::size_t count = std::size_t{1} * size * size;
    std::vector<std::uint32_t> pixels(count + 1, kGuard);
    sink.Aim(std::span(pixels).first(count), flip);
    PutImage(image, sink, band);
    EXPECT_TRUE(sink.is_complete());
    EXPECT_EQ(pixels.back(), kGuard);
    pixels.pop_back();
    ASSERT_TRUE(pixels == Twin(image, size, flip))
        << image.width << "x" << image.height << " to " << size << ", flip "
        << flip << ", bands of " << band;
  }
};

TEST_P(BicubicSinkTest, GivesTheTwinsBytesAtSmallSizes) {
  for (int width = 1; width <= 9; ++width) {
    for (int height = 1; height <= 9; ++height) {
      const RgbImage image = HardEdges(width, height);
      for (int size = 1; size <= 9; ++size) {
        ExpectTwin(image.view(), size, (width + height) % 2 == 0, 1 + size % 3);
      }
    }
  }
}

TEST_P(BicubicSinkTest, GivesTheTwinsBytesAtRandomSizes) {
  SampleRandom random({.seed = 1}, RandomStream::kMadeData);
  for (int i = 0; i < 150; ++i) {
    const int size = 1 + static_cast<int>(random.Below(70));
    const int width = 1 + static_cast<int>(random.Below(400));
    const int height = 1 + static_cast<int>(random.Below(400));
    const int band = 1 + static_cast<int>(random.Below(RowSink::kMaxRows));
    ExpectTwin(HardEdges(width, height).view(), size, random.Below(2) == 0,
               band);
  }
}

// From far more columns than output pixels to far fewer.
TEST_P(BicubicSinkTest, GivesTheTwinsBytesAtAllScales) {
  for (int width = 1; width < 1000; width += 1 + width / 11) {
    const RgbImage image = TestPhotograph(width, 37, 3);
    ExpectTwin(image.view(), 33, false, 16);
    ExpectTwin(image.view(), 32, true, 8);
  }
}

TEST_P(BicubicSinkTest, GivesTheTwinsBytesOfACrop) {
  ExpectTwin(TestPhotograph(289, 291, 5).view(), 224, false, 16);
  ExpectTwin(TestPhotograph(120, 301, 5).view(), 224, true, 8);
}

// Aligned rows are written past the caches.
TEST_P(BicubicSinkTest, GivesTheTwinsBytesAtAnyAddress) {
  const RgbImage image = TestPhotograph(70, 60, 5);
  for (const int size : {32, 33, 48}) {
    const std::size_t count = std::size_t{1} * size * size;
    struct alignas(64) Line {
      std::uint32_t pixels[16];
    };
    std::vector<Line> memory(count / 16 + 2);
    for (const std::size_t shift : {0, 1, 4, 8, 15}) {
      const std::span<std::uint32_t> pixels(memory.front().pixels + shift,
                                            count);
      BicubicSink sink(size);
      sink.Aim(pixels, false);
      PutImage(image.view(), sink);
      EXPECT_TRUE(std::ranges::equal(pixels, Twin(image.view(), size, false)))
          << size << ", " << shift;
    }
  }
}

TEST_P(BicubicSinkTest, ImagesLeaveNothingBehind) {
  BicubicSink sink(20);
  ExpectTwin(HardEdges(100, 90).view(), 20, true, 32, sink);
  ExpectTwin(TestPhotograph(3, 2, 1).view(), 20, false, 1, sink);
  ExpectTwin(HardEdges(7, 300).view(), 20, true, 5, sink);
}

TEST_P(BicubicSinkTest, StartsOverAtAnyTime) {
  const RgbImage image = TestPhotograph(50, 60, 2);
  for (const int rows : {0, 1, 7, 33, 60}) {
    BicubicSink sink(24);
    std::vector<std::uint32_t> pixels(std::size_t{24} * 24);
    sink.Aim(pixels, true);
    const RgbImage other = HardEdges(80, 70);
    PutFirstRows(other.view(), rows, sink);
    EXPECT_FALSE(sink.is_complete());
    PutImage(image.view(), sink, 8);
    EXPECT_TRUE(sink.is_complete());
    EXPECT_EQ(pixels, Twin(image.view(), 24, true));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BicubicSinkTest,
                         testing::ValuesIn(SupportedSimdTargets()),
                         [](const testing::TestParamInfo<std::string>& name) {
                           return name.param;
                         });

TEST(BicubicSinkProgressTest, IsCompleteWithTheLastRow) {
  const RgbImage image = TestPhotograph(30, 30, 2);
  BicubicSink sink(40);
  std::vector<std::uint32_t> pixels(std::size_t{40} * 40);
  sink.Aim(pixels, false);
  PutFirstRows(image.view(), 29, sink);
  EXPECT_FALSE(sink.is_complete());
  PutFirstRows(image.view(), 30, sink);
  EXPECT_TRUE(sink.is_complete());
}

TEST(BicubicSinkDeathTest, WritesASquareOfItsSize) {
  BicubicSink sink(4);
  std::vector<std::uint32_t> pixels(15);
  EXPECT_DEATH(sink.Aim(pixels, false), "square of the given size");
}

}  // namespace
}  // namespace infeed
