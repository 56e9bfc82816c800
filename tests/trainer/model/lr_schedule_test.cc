#include "trainer/model/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

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
    // Small ones have no more than eight places.
    EXPECT_NEAR(LearningRate(step, options), rate, 1e-5 * rate + 5e-9)
        << "step " << step;
  }
}

TEST(LearningRateTest, FollowsTheReferenceWithItsDefaults) {
  const std::vector<Point> points = {
      {0, 0},          {1, 6.39417e-5}, {100, .00639417}, {1251, .0799911},
      {3000, .191825}, {6255, .399955}, {6256, .4},       {37534, .4},
      {37535, .04},    {75068, .04},    {75069, .004},    {100091, .004},
      {100092, .0004}, {112589, .0004}, {200000, .0004}};
  ExpectRates(Imagenet(1024, 112590), points);
}

TEST(LearningRateTest, WarmsUpAndDecaysInARunOfFlowers) {
  const std::vector<Point> points = {{0, 0},    {1, .1396046}, {2, .2792093},
                                     {3, .4},   {20, .4},      {21, .04},
                                     {41, .004}};
  ExpectRates(Flowers(2934), points);
}

TEST(LearningRateTest, TrainsAtAThousandthWhenTheRunIsLessThanAnEpoch) {
  for (std::int64_t step = 0; step < 42; ++step) {
    EXPECT_NEAR(LearningRate(step, Flowers(1281167)), .0004, 1e-12);
  }
}

TEST(LearningRateTest, ScalesWithTheBatch) {
  LearningRateOptions options = Imagenet(256, 450360);
  options.base_learning_rate = 0.2;
  ExpectRates(options, {{50000, .2}});
  // A batch larger than the data is an epoch.
  options = {.batch_size = 256, .train_images = 100, .train_steps = 90};
  ExpectRates(options, {{0, 0}, {1, .1 * 2.56 / 5}, {2, .1}});
}

struct Breakpoints {
  LearningRateOptions options;
  std::vector<double> epochs;
};

// The rate changes at the first step at or past a breakpoint, and not before.
TEST(LearningRateTest, BreakpointsLieAtTheReferencesEpochs) {
  const std::vector<double> factors = {1, 0.1, 0.01, 0.001};
  for (const auto& [options, epochs] : std::vector<Breakpoints>{
           {Imagenet(1024, 112590), {5, 30, 60, 80}},
           {Imagenet(1024, 113854), {5, 30, 60, 80}},
           {Imagenet(4096, 28464), {5, 30, 60, 81}},
           {Imagenet(32768, 3558), {5, 30, 60, 81}},
           {Imagenet(1024, 225216), {10, 60, 120, 160}},   // RandAugment
           {Imagenet(4096, 109475), {19, 116, 233, 311}},  // ResNet-RS
           {Flowers(2934), {1, 7, 14, 18}}}) {
    SCOPED_TRACE(options.train_steps);
    const double steps_per_epoch =
        static_cast<double>(options.train_images) / options.batch_size;
    const double peak = options.base_learning_rate * options.batch_size / 256;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto first =
          static_cast<std::int64_t>(std::ceil(epochs[i] * steps_per_epoch));
      EXPECT_NEAR(LearningRate(first, options), factors[i] * peak, 1e-9);
      const double before = LearningRate(first - 1, options);
      EXPECT_TRUE(i == 0 ? before < peak : before > 1.5 * factors[i] * peak);
    }
  }
}

// --- LARS: values that the reference driver computes.

LearningRateOptions Lars(int batch_size, std::int64_t train_steps) {
  LearningRateOptions options = Imagenet(batch_size, train_steps);
  options.lars = true;
  return options;
}

TEST(LarsLearningRateTest, FollowsTheReferenceWithLargeBatches) {
  const std::vector<Point> of_16384 = {
      {0, 0},           {1, .0639417},     {390, 24.937264},
      {391, 24.992568}, {1000, 20.671618}, {2000, 14.465360},
      {7116, .00010055}};
  ExpectRates(Lars(16384, 7116), of_16384);
  const std::vector<Point> of_32768 = {{1, .0584610},    {547, 31.978159},
                                       {548, 31.978755}, {1000, 23.098360},
                                       {2000, 8.573062}, {3558, .00010353}};
  ExpectRates(Lars(32768, 3558), of_32768);
}

TEST(LarsLearningRateTest, HasAPeakAndAWarmUpForEachBatch) {
  // At step 1 of a warm-up of w epochs the rate is peak * epoch / w.
  const auto slope = [](int batch_size) {
    return LearningRate(1, Lars(batch_size, 7000)) * 1281167 / batch_size;
  };
  EXPECT_NEAR(slope(16383), 10.0 / 5, 1e-9);
  EXPECT_NEAR(slope(16384), 25.0 / 5, 1e-9);
  EXPECT_NEAR(slope(32768), 32.0 / 14, 1e-9);
  EXPECT_NEAR(slope(65536), 35.6 / 40, 1e-9);
}

TEST(LarsLearningRateTest, PolyRateReplacesThePeakAlone) {
  LearningRateOptions options = Lars(16384, 7116);
  options.poly_rate = 50;
  ExpectRates(options, {{390, 2 * 24.937264}});
  // A run shorter than its warm-up.
  ExpectRates(Lars(16384, 100),
              {{99, 25.0 * 99 * 16384 / 1281167 / 5}, {1000, 1e-4}});
}

// --- The other schedules, over ten epochs of ten steps.

LearningRateOptions TenEpochs(RateSchedule schedule, double warmup_epochs) {
  return {.base_learning_rate = 0.5,
          .scaled_by_batch = false,
          .schedule = schedule,
          .warmup_epochs = warmup_epochs,
          .batch_size = 10,
          .train_images = 100,
          .train_steps = 100};
}

// The cosine is PyTorch's CosineAnnealingLR(T_max=100).
TEST(LearningRateTest, FallsAlongACosineOrALineOrStays) {
  const std::vector<Point> cosine = {{0, .5},   {25, .4267766953},
                                     {50, .25}, {99, .0001233600},
                                     {100, 0},  {200, 0}};
  ExpectRates(TenEpochs(RateSchedule::kCosine, -1), cosine);
  ExpectRates(TenEpochs(RateSchedule::kLinear, -1),
              {{0, .5}, {20, .4}, {99, .005}, {100, 0}, {101, 0}});
  ExpectRates(TenEpochs(RateSchedule::kConstant, -1), {{0, .5}, {99, .5}});
}

TEST(LearningRateTest, RisesBeforeItFalls) {
  ExpectRates(TenEpochs(RateSchedule::kCosine, 2),
              {{0, 0}, {10, .25}, {20, .5}, {60, .25}, {100, 0}});
  ExpectRates(TenEpochs(RateSchedule::kLinear, 2),
              {{1, .025}, {20, .5}, {60, .25}, {100, 0}});
  ExpectRates(TenEpochs(RateSchedule::kConstant, 1), {{5, .25}, {10, .5}});
}

TEST(LearningRateTest, TakesAnotherWarmUpOrPeakThanTheReferences) {
  LearningRateOptions options = Imagenet(1024, 112590);
  options.warmup_epochs = 0;
  ExpectRates(options, {{0, .4}});
  options.warmup_epochs = 2.5;
  ExpectRates(options, {{1251, .4 * 1251 * 1024 / 1281167 / 2.5}, {3128, .4}});
  options = Imagenet(1024, 112590);
  options.scaled_by_batch = false;
  ExpectRates(options, {{6256, .1}, {37535, .01}});
}

// torch.optim.lr_scheduler.StepLR(step_size=30, gamma=0.1) of 90 epochs.
TEST(LearningRateTest, FallsInStepsAtEachThird) {
  LearningRateOptions options = Imagenet(256, 90 * 5004);
  options.schedule = RateSchedule::kSteps;
  const std::vector<Point> points = {{0, .1},           {30 * 5004 - 1, .1},
                                     {30 * 5004, .01},  {60 * 5004 - 1, .01},
                                     {60 * 5004, .001}, {90 * 5004 - 1, .001}};
  ExpectRates(options, points);
}

// --- Schedules of PyTorch and timm (make_schedule_goldens.py): nine epochs of
// ten steps.

struct Golden {
  std::string name;
  RateSchedule schedule;
  double warmup_epochs = -1;
  double warmup_factor = 0;
  double min_rate = 0;
  bool after_warmup = true;
  double decay = 0.1;
  std::vector<double> decay_epochs = {};
};

class LearningRateGoldenTest : public testing::TestWithParam<Golden> {};

TEST_P(LearningRateGoldenTest, HasTheirRates) {
  static const nlohmann::json kGoldens = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/schedule_goldens.json"));
  const Golden& golden = GetParam();
  const LearningRateOptions options = {.base_learning_rate = 0.5,
                                       .scaled_by_batch = false,
                                       .schedule = golden.schedule,
                                       .warmup_epochs = golden.warmup_epochs,
                                       .warmup_factor = golden.warmup_factor,
                                       .min_rate = golden.min_rate,
                                       .after_warmup = golden.after_warmup,
                                       .decay = golden.decay,
                                       .decay_epochs = golden.decay_epochs,
                                       .batch_size = 10,
                                       .train_images = 100,
                                       .train_steps = 90};
  const nlohmann::json& rates = kGoldens.at(golden.name);
  ASSERT_EQ(rates.size(), 90);
  double largest = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double rate = LearningRate(static_cast<std::int64_t>(i), options);
    ASSERT_NEAR(rate, rates[i].get<double>(), 1e-9) << "step " << i;
    largest = std::max(largest, std::abs(rate - rates[i].get<double>()));
  }
  RecordProperty("largest_difference", fmt::format("{}", largest));
}

std::vector<Golden> Goldens() {
  using enum RateSchedule;
  return {{"step", kStep, -1, 0, 0, true, 0.2, {3}},
          {"step_warmed", kStep, 2, 0.02, 0, true, 0.2, {3}},
          {"multistep", kMultistep, -1, 0, 0, true, 0.1, {2, 2.5, 8}},
          {"exponential_warmed", kExponential, 2, 0.02, 0, true, 0.6},
          {"cosine_warmed", kCosine, 2, 0.01, 0.002},
          {"onecycle", kOneCycle},
          {"onecycle_given", kOneCycle, 2, 0.1, 0.002},
          {"linear", kLinear, -1, 0, 0.002},
          {"timm_cosine", kCosine, 2, 0.02, 0.002, false},
          {"timm_step", kStep, 2, 0.02, 0, false, 0.2, {3}}};
}

INSTANTIATE_TEST_SUITE_P(All, LearningRateGoldenTest,
                         testing::ValuesIn(Goldens()),
                         [](const auto& golden) { return golden.param.name; });

TEST(PlateauRateTest, RatesMatchReduceLROnPlateau) {
  const nlohmann::json goldens = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/schedule_goldens.json"));
  ASSERT_EQ(goldens["plateau"].size(), 4);
  for (const nlohmann::json& golden : goldens["plateau"]) {
    const LearningRateOptions options = {
        .base_learning_rate = 0.5,
        .scaled_by_batch = false,
        .schedule = RateSchedule::kPlateau,
        .min_rate = golden.value("min_lr", 0.0),
        .decay = golden["factor"],
        .plateau_patience = golden["patience"]};
    const std::vector<double> values = golden["values"];
    const std::vector<double> rates = golden["rates"];
    ASSERT_LT(rates.back(), 0.1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(PlateauRate(options, golden["mode"] == "min",
                            std::span(values).first(i + 1)),
                rates[i])
          << "evaluation " << i;
    }
  }
}

TEST(PlateauRateTest, NoEvaluationLeavesThePeakAndOneThatIsNotFiniteIsBad) {
  LearningRateOptions options = {.scaled_by_batch = false,
                                 .schedule = RateSchedule::kPlateau,
                                 .plateau_patience = 1};
  EXPECT_EQ(PlateauRate(options, true, {}), 0.1);
  EXPECT_EQ(LearningRate(7, options), 0.1);
  const double nan = std::nan("");
  EXPECT_EQ(PlateauRate(options, true, std::vector{1.0, nan}), 0.1);
  options.plateau_rate = PlateauRate(options, true, std::vector{1.0, nan, nan});
  EXPECT_DOUBLE_EQ(options.plateau_rate, 0.01);
  EXPECT_EQ(LearningRate(7, options), options.plateau_rate);
}

TEST(LearningRateTest, DoesNotFallBelowTheLowest) {
  LearningRateOptions options = TenEpochs(RateSchedule::kExponential, 1);
  options.min_rate = 0.02;
  ExpectRates(options, {{0, 0}, {10, .5}, {20, .05}, {30, .02}, {99, .02}});
}

TEST(LearningRateTest, OneCycleOfAStepOrTwoIsThePeak) {
  for (const std::int64_t steps : {1, 2}) {
    LearningRateOptions options = TenEpochs(RateSchedule::kOneCycle, 0);
    options.train_steps = steps;
    ExpectRates(options, {{0, .5}});
  }
}

// A run of so many steps, ten of them an epoch.
LearningRateOptions Steps(std::int64_t steps, RateSchedule schedule,
                          double warmup_epochs = -1) {
  return {.schedule = schedule,
          .warmup_epochs = warmup_epochs,
          .batch_size = 10,
          .train_images = 100,
          .train_steps = steps};
}

TEST(ScheduleAdviceTest, NamesAnotherScheduleBelow18Epochs) {
  EXPECT_THAT(ScheduleAdvice(Steps(50, RateSchedule::kReference)),
              ElementsAre(AllOf(HasSubstr("made for 90 epochs, and in 5 it"),
                                HasSubstr("--preset finetune"))));
  EXPECT_THAT(ScheduleAdvice(Steps(179, RateSchedule::kReference)),
              ElementsAre(HasSubstr("in 17.9 it")));
  EXPECT_THAT(ScheduleAdvice(Steps(180, RateSchedule::kReference)), IsEmpty());
  LearningRateOptions lars = Steps(100, RateSchedule::kReference);
  lars.lars = true;
  EXPECT_THAT(ScheduleAdvice(lars), IsEmpty());
}

TEST(ScheduleAdviceTest, SaysThatARunIsLessThanAnEpochOrItsWarmUp) {
  EXPECT_THAT(ScheduleAdvice(Steps(9, RateSchedule::kCosine)),
              ElementsAre("short run: train_steps=9 is 0.9 of an epoch; "
                          "train_epochs=1 trains on all images once"));
  EXPECT_THAT(ScheduleAdvice(Steps(10, RateSchedule::kCosine)), IsEmpty());
  EXPECT_THAT(ScheduleAdvice(Steps(20, RateSchedule::kCosine, 2)),
              ElementsAre(HasSubstr("warm-up takes 20 steps of "
                                    "train_steps=20")));
  EXPECT_THAT(ScheduleAdvice(Steps(21, RateSchedule::kCosine, 2)), IsEmpty());
}

TEST(ScheduleAdviceTest, SaysThatTheRateStaysBelowAHundredthOfThePeak) {
  EXPECT_THAT(
      ScheduleAdvice(Steps(9, RateSchedule::kReference)),
      ElementsAre(HasSubstr("is 0.9 of an epoch"),
                  AllOf(HasSubstr("at most 3.9e-06, and never reaches a "
                                  "hundredth of its peak 0.0039"),
                        HasSubstr("--preset finetune"))));
  LearningRateOptions late = Steps(90, RateSchedule::kMultistep, 0);
  late.decay_epochs = {0.1, 0.2, 5};
  EXPECT_THAT(ScheduleAdvice(late), IsEmpty());
}

}  // namespace

}  // namespace infeed
