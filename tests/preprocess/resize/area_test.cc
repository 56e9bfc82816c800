#include "preprocess/resize/area.h"

#include <random>
#include <string>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/support/test_jpeg.h"

namespace infeed::area_test {

TEST(ResizeAreaTest, TakesTheMeanOfAnArea) {
  RgbImage image;
  image.Resize(4, 2);
  for (int i = 0; i < 24; ++i) {
    image.pixels()[i] = static_cast<std::uint8_t>(10 * (i / 3));
  }
  RgbImage half;
  ResizeArea(image.view(), 2, 1, half);
  // Means of 0 10 40 50 and of 20 30 60 70.
  EXPECT_EQ(Flat(half.view()), (std::string{25, 25, 25, 45, 45, 45}));
}

// OpenCV's resize of the image.
std::string Twin(const RgbView& source, int width, int height) {
  const cv::Mat from(source.height, source.width, CV_8UC3,
                     const_cast<std::uint8_t*>(source.pixels),
                     static_cast<std::size_t>(source.stride));
  cv::Mat to;
  const bool larger = width > source.width || height > source.height;
  cv::resize(from, to, {width, height}, 0, 0,
             larger ? cv::INTER_CUBIC : cv::INTER_AREA);
  return {to.datastart, to.dataend};
}

void ExpectTwin(const RgbView& source, int width, int height) {
  RgbImage image;
  ResizeArea(source, width, height, image);
  ASSERT_EQ(Flat(image.view()), Twin(source, width, height))
      << source.width << "x" << source.height << " to " << width << "x"
      << height;
}

RgbImage Noise(int width, int height) {
  RgbImage image;
  image.Resize(width, height);
  std::minstd_rand draws(1);
  for (std::uint8_t& sample : image.pixels()) {
    // Half of the samples are black or white: sums reach both ends.
    const auto draw = draws() >> 8;
    sample = static_cast<std::uint8_t>(draw % 4 == 0   ? 0
                                       : draw % 4 == 1 ? 255
                                                       : draw >> 4);
  }
  return image;
}

TEST(ResizeAreaTest, HasTheBytesOfOpencvAtEverySmallSize) {
  const RgbImage image = Noise(13, 11);
  for (int width = 1; width <= 40; ++width) {
    for (int height = 1; height <= 34; ++height) {
      ExpectTwin(image.view(), width, height);
    }
  }
}

// Scales of which the reciprocal of the reciprocal is another number too.
TEST(ResizeAreaTest, HasTheBytesOfOpencvAtWholeScales) {
  const RgbImage image = Noise(240, 180);
  for (int scale = 1; scale <= 60; ++scale) {
    const Window window = {.height = 3 * scale, .width = 4 * scale};
    ExpectTwin(image.view(window), 4, 3);
    ExpectTwin(image.view(window), 2, 3);
  }
}

TEST(ResizeAreaTest, HasTheBytesOfOpencvForLines) {
  const RgbImage wide = Noise(333, 1);
  const RgbImage high = Noise(1, 333);
  for (int size = 1; size < 800; size += 37) {
    ExpectTwin(wide.view(), size, 1);
    ExpectTwin(wide.view(), size, 3);
    ExpectTwin(high.view(), 1, size);
    ExpectTwin(high.view(), 2, size);
  }
}

TEST(ResizeAreaTest, HasTheBytesOfOpencvForWindowsOfPhotographs) {
  const RgbImage image = TestPhotograph(640, 480, 5);
  std::minstd_rand draws(7);
  const auto below = [&](int end) {
    return static_cast<int>(draws() % static_cast<unsigned>(end));
  };
  for (int i = 0; i < 200; ++i) {
    Window window = {.height = 1 + below(480), .width = 1 + below(640)};
    window.y = below(481 - window.height);
    window.x = below(641 - window.width);
    const RgbView view = image.view(window);
    ExpectTwin(view, 1 + below(view.width), 1 + below(view.height));
    ExpectTwin(view, 1 + below(700), 1 + below(500));
  }
}

}  // namespace infeed::area_test
