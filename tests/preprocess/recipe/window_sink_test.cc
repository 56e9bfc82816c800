#include "preprocess/recipe/window_sink.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preprocess/pixels/pack.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

RgbImage Made(int width, int height) {
  RgbImage image;
  image.Resize(width, height);
  std::uint8_t value = 1;
  for (std::uint8_t& byte : image.pixels()) {
    byte = value;
    value = static_cast<std::uint8_t>(value * 5 + 3);
  }
  return image;
}

std::size_t PixelsOf(const RgbImage& image) {
  return static_cast<std::size_t>(image.width()) * image.height();
}

std::vector<std::uint32_t> Packed(const RgbImage& image) {
  std::vector<std::uint32_t> pixels(PixelsOf(image));
  PackImage(image.view(), false, pixels);
  return pixels;
}

TEST(WindowSinkTest, PacksAWindowInAnyBands) {
  const RgbImage image = Made(37, 50);
  WindowSink sink;
  for (const int band : {1, 8, 13, RowSink::kMaxRows}) {
    std::vector<std::uint32_t> pixels(PixelsOf(image));
    sink.Aim(pixels);
    PutImage(image.view(), sink, band);
    EXPECT_TRUE(sink.is_complete());
    EXPECT_EQ(pixels, Packed(image)) << band;
  }
}

TEST(WindowSinkTest, StartsOverAtAnyTime) {
  const RgbImage image = Made(20, 40);
  std::vector<std::uint32_t> pixels(PixelsOf(image));
  WindowSink sink;
  sink.Aim(pixels);
  sink.Begin(20, 40);
  (void)sink.Next(7);
  sink.Filled();
  EXPECT_FALSE(sink.is_complete());
  PutImage(image.view(), sink);
  EXPECT_TRUE(sink.is_complete());
  EXPECT_EQ(pixels, Packed(image));
}

TEST(WindowSinkDeathTest, TakesAWindowOfItsSize) {
  std::vector<std::uint32_t> pixels(12);
  WindowSink sink;
  sink.Aim(pixels);
  EXPECT_DEATH(sink.Begin(4, 4), "the window's size");
}

}  // namespace
}  // namespace infeed
