#include "trainer/lr_schedule.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {
namespace {

// Each expected value is one that the reference driver computes.

LearningRateOptions Imagenet(int batch_size, std::int64_t train_steps) {
  return {.base_learning_rate = 0.1,
          .batch_size = batch_size,
          .train_images = 1281167,
          .train_steps = train_steps};
}

LearningRateOptions Flowers(std::int64_t train_images) {
  return {.base_learning_rate = 0.1,
          .batch_size = 1024,
          .train_images = train_images,
          .train_steps = 42};
}

struct Point {
  std::int64_t step;
  double rate;
};

void ExpectRates(const LearningRateOptions& options,
                 const std::vector<Point>& points) {
  for (const auto& [step, rate] : points) {
    EXPECT_NEAR(LearningRate(step, options), rate, 1e-5 * rate)
        << "step " << step;
  }
}

TEST(LearningRateTest, FollowsTheReferenceWithItsDefaults) {
  ExpectRates(Imagenet(1024, 112590), {{0, 0},
                                       {1, 6.39417e-5},
                                       {100, .00639417},
                                       {1251, .0799911},
                                       {3000, .191825},
                                       {6255, .399955},
                                       {6256, .4},
                                       {37534, .4},
                                       {37535, .04},
                                       {75068, .04},
                                       {75069, .004},
                                       {100091, .004},
                                       {100092, .0004},
                                       {112589, .0004}});
}

TEST(LearningRateTest, WarmsUpAndDecaysInARunOfFlowers) {
  ExpectRates(Flowers(2934), {{0, 0},
                              {1, .1396046},
                              {2, .2792093},
                              {3, .4},
                              {20, .4},
                              {21, .04},
                              {41, .004}});
}

TEST(LearningRateTest, TrainsAtAThousandthWhenTheRunIsLessThanAnEpoch) {
  for (std::int64_t step = 0; step < 42; ++step) {
    EXPECT_NEAR(LearningRate(step, Flowers(1281167)), .0004, 1e-12);
  }
}

TEST(LearningRateTest, StaysAtTheLastRateAfterTheEnd) {
  ExpectRates(Imagenet(1024, 112590), {{200000, .0004}});
}

TEST(LearningRateTest, ScalesWithTheBatch) {
  LearningRateOptions options = Imagenet(256, 450360);
  options.base_learning_rate = 0.2;
  ExpectRates(options, {{50000, .2}});
}

TEST(LearningRateTest, TakesABatchLargerThanTheDataAsAnEpoch) {
  ExpectRates({.base_learning_rate = 0.1,
               .batch_size = 256,
               .train_images = 100,
               .train_steps = 90},
              {{0, 0}, {1, .1 * 2.56 / 5}, {2, .1}});
}

struct Breakpoints {
  std::string name;
  LearningRateOptions options;
  std::vector<double> epochs;
};

class LearningRateBreakpointTest : public testing::TestWithParam<Breakpoints> {
};

// The rate changes at the first step at or past a breakpoint, and not before.
TEST_P(LearningRateBreakpointTest, LieAtTheReferencesEpochs) {
  const LearningRateOptions& options = GetParam().options;
  const double steps_per_epoch =
      static_cast<double>(options.train_images) / options.batch_size;
  const double peak = options.base_learning_rate * options.batch_size / 256;
  const std::vector<double> factors = {1, 0.1, 0.01, 0.001};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto first = static_cast<std::int64_t>(
        std::ceil(GetParam().epochs[i] * steps_per_epoch));
    EXPECT_NEAR(LearningRate(first, options), factors[i] * peak, 1e-9);
    const double before = LearningRate(first - 1, options);
    EXPECT_TRUE(i == 0 ? before < peak : before > 1.5 * factors[i] * peak);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, LearningRateBreakpointTest,
    testing::Values(
        Breakpoints{"Default", Imagenet(1024, 112590), {5, 30, 60, 80}},
        Breakpoints{"Longer", Imagenet(1024, 113854), {5, 30, 60, 80}},
        Breakpoints{"Cores32", Imagenet(4096, 28464), {5, 30, 60, 81}},
        Breakpoints{"Cores2048", Imagenet(32768, 3558), {5, 30, 60, 81}},
        Breakpoints{"RandAugment", Imagenet(1024, 225216), {10, 60, 120, 160}},
        Breakpoints{"ResNetRs", Imagenet(4096, 109475), {19, 116, 233, 311}},
        Breakpoints{"Flowers", Flowers(2934), {1, 7, 14, 18}}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace infeed
