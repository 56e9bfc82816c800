#include "preprocess/recipe/framing.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/support/print_window.h"

namespace infeed {
namespace {

TEST(ScaleDenominatorTest, KeepsTheOutputsPixels) {
  const auto denominator = [](int height, int width) {
    return ScaleDenominator(
        WholeWindow({.y = 3, .x = 5, .height = height, .width = width}, 32));
  };
  EXPECT_EQ(denominator(10, 10), 1);
  EXPECT_EQ(denominator(63, 500), 1);
  EXPECT_EQ(denominator(64, 500), 2);
  EXPECT_EQ(denominator(500, 127), 2);
  EXPECT_EQ(denominator(500, 128), 4);
  EXPECT_EQ(denominator(255, 256), 4);
  EXPECT_EQ(denominator(256, 256), 8);
  EXPECT_EQ(denominator(9000, 9000), 8);
}

TEST(ScaleDenominatorTest, KeepsWhatIsCutOffLater) {
  const Framing framing{
      .window = {0, 0, 128, 256}, .height = 64, .width = 128, .y = 16, .x = 48};
  EXPECT_EQ(ScaleDenominator(framing), 2);
}

TEST(ScaledWindowTest, StaysInsideAndCoversItsPlace) {
  for (const int denominator : {1, 2, 4, 8}) {
    for (int side = denominator; side < 40; ++side) {
      const int scaled_side = (side + denominator - 1) / denominator;
      for (int first = 0; first + denominator <= side; ++first) {
        for (int count = denominator; first + count <= side; ++count) {
          const Window window =
              ScaledWindow({.y = first, .x = 0, .height = count, .width = side},
                           denominator);
          ASSERT_LE(window.y + window.height, scaled_side);
          ASSERT_EQ(window.height, count / denominator);
          ASSERT_LE(std::abs(window.y * denominator - first), denominator / 2);
          ASSERT_EQ(window.x, 0);
        }
      }
    }
  }
}

TEST(PlanDecodeTest, TakesAllOfAWindowThatIsSmallerThanTheOutput) {
  const Window window{.y = 3, .x = 5, .height = 20, .width = 31};
  for (const ResizeKernel kernel :
       {ResizeKernel::kBicubic, ResizeKernel::kBilinear,
        ResizeKernel::kAntialias, ResizeKernel::kAntialiasBicubic}) {
    const DecodePlan plan =
        PlanDecode(WholeWindow(window, 32), kernel, 32, true);
    EXPECT_EQ(plan.window, window);
    EXPECT_EQ(plan.denominator, 1);
    EXPECT_EQ(plan.sides.vertical, (ResizeSide{.in_size = 20, .out_size = 32}));
    EXPECT_EQ(plan.sides.horizontal,
              (ResizeSide{.in_size = 31, .out_size = 32}));
  }
}

// Halves: output i is made of the samples 2i - 1 .. 2i + 2.
TEST(PlanDecodeTest, TakesWhatASquareIsMadeOf) {
  const Framing framing{
      .window = {.y = 100, .x = 200, .height = 80, .width = 120},
      .height = 40,
      .width = 60,
      .y = 4,
      .x = 14};
  const DecodePlan plan =
      PlanDecode(framing, ResizeKernel::kAntialias, 32, false);
  EXPECT_EQ(plan.window,
            (Window{.y = 107, .x = 227, .height = 66, .width = 66}));
  EXPECT_EQ(plan.sides.vertical,
            (ResizeSide{
                .in_size = 80, .out_size = 40, .out_first = 4, .in_first = 7}));
  EXPECT_EQ(plan.sides.horizontal.in_first, 27);
}

// A wide image in a wider output: 24 pixels of a side are a margin.
TEST(PlanDecodeTest, MarginsAreBeforeTheImage) {
  const Framing framing{.window = {.y = 0, .x = 0, .height = 150, .width = 200},
                        .height = 60,
                        .width = 80,
                        .y = 6,
                        .x = -24};
  const DecodePlan plan =
      PlanDecode(framing, ResizeKernel::kAntialias, {48, 129}, false);
  EXPECT_EQ(plan.window.width, 200);
  EXPECT_EQ(plan.sides.vertical.out_first, 6);
  EXPECT_EQ(plan.sides.vertical.margin, 0);
  EXPECT_EQ(plan.sides.horizontal,
            (ResizeSide{
                .in_size = 200, .out_size = 80, .in_first = 0, .margin = 24}));
}

TEST(PlanDecodeTest, PlansInTheSmallerImage) {
  const Framing framing{.window = {.y = 0, .x = 0, .height = 81, .width = 122},
                        .height = 40,
                        .width = 60,
                        .y = 4,
                        .x = 14};
  const DecodePlan plan =
      PlanDecode(framing, ResizeKernel::kAntialias, 32, true);
  EXPECT_EQ(plan.denominator, 2);
  EXPECT_EQ(plan.sides.vertical.in_size, 40);
  EXPECT_EQ(plan.sides.horizontal.in_size, 61);
  EXPECT_EQ(plan.window.y, 4);
  EXPECT_LE(plan.window.height, 33);
}

}  // namespace
}  // namespace infeed
