#include "trainer/params/station_options.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "trainer/model/lr_schedule.h"
#include "trainer/params/params.h"
#include "trainer/params/train_params.h"

namespace infeed {
namespace {

TEST(StationOptionsTest, TheDeviceGetsTheGpusSwitches) {
  TrainParams params;
  const DeviceOptions device = MakeDeviceOptions(params, "cpu");
  EXPECT_EQ(device.graphs, GraphReplay::kTrue);
  EXPECT_FALSE(device.deterministic);
  params.cuda_graph = GraphReplay::kRequired;
  params.deterministic = true;
  EXPECT_EQ(MakeDeviceOptions(params, "cpu").graphs, GraphReplay::kRequired);
  EXPECT_TRUE(MakeDeviceOptions(params, "cpu").deterministic);
}

TEST(StationOptionsTest, OnlyFloat16ScalesTheLoss) {
  TrainParams params;
  EXPECT_FALSE(MakeOptimizerOptions(params).loss_scale);
  params.precision = Precision::kBfloat16;
  EXPECT_FALSE(MakeOptimizerOptions(params).loss_scale);
  params.precision = Precision::kFloat16;
  EXPECT_TRUE(MakeOptimizerOptions(params).loss_scale->dynamic);
  EXPECT_EQ(MakeOptimizerOptions(params).loss_scale->scale, 65536);
  params.loss_scale = "1.5e3";
  EXPECT_FALSE(MakeOptimizerOptions(params).loss_scale->dynamic);
  EXPECT_EQ(MakeOptimizerOptions(params).loss_scale->scale, 1500);
}

TEST(StationOptionsTest, RefusesAScaleOfTheLossThatCannotWork) {
  for (const char* const text : {"0", "0.5", "-1", "1e10", "much", ""}) {
    RunParams run;
    run.values.precision = Precision::kFloat16;
    run.values.loss_scale = text;
    EXPECT_THAT(
        MessageOf<UsageError>([&] { (void)Resolve(run, "cpu", DataSet()); }),
        HasSubstr("must be auto, or a number from 1 to 4294967296"))
        << text;
  }
}

TEST(StationOptionsTest, ACpuDoesNotTrainInFloat16ButEvaluates) {
  TrainParams params;
  params.precision = Precision::kFloat16;
  EXPECT_THAT(
      MessageOf<UsageError>([&] { CheckDevice(params, "cpu"); }),
      HasSubstr("precision=float16 trains on a GPU only; give bfloat16"));
  EXPECT_EQ(MakeDeviceOptions(params, "cpu").precision, Precision::kFloat32);
  params.precision = Precision::kBfloat16;
  CheckDevice(params, "cpu");
  EXPECT_EQ(MakeDeviceOptions(params, "cpu").precision, Precision::kBfloat16);
}

TEST(StationOptionsTest, ACpuRefusesStatisticsOfConvolutions) {
  TrainParams params;
  for (const ConvStatistics statistics :
       {ConvStatistics::kEpilogue, ConvStatistics::kFused}) {
    params.model.conv_statistics = statistics;
    EXPECT_EQ(MessageOf<UsageError>([&] { CheckDevice(params, "cpu"); }),
              "conv_statistics=epilogue and conv_statistics=fused are for a "
              "GPU only; "
              "give pass on a CPU");
  }
  params.model.conv_statistics = ConvStatistics::kPass;
  CheckDevice(params, "cpu");
}

TEST(StationOptionsTest, AnEvaluationReadsAndCropsAsItsParametersSay) {
  TrainParams params;
  EXPECT_TRUE(EvalInputOf(params).map_files);
  params.input.map_files = false;
  params.input.preprocess.crop = {.eval_resize = 232};
  params.input.input_hash = InputHash::kPixels;
  EXPECT_FALSE(EvalInputOf(params).map_files);
  EXPECT_EQ(EvalInputOf(params).preprocess.crop.eval_resize, 232);
  EXPECT_EQ(EvalInputOf(params).input_hash, InputHash::kRecords);
}

std::string Difference(const TrainParams& run, const TrainParams& before) {
  return DescribeDifferences(MakeIdentity(run, DataSet()),
                             MakeIdentity(before, DataSet()));
}

TEST(StationOptionsTest, ARunResumesWithTheSameTeacher) {
  TrainParams alone;
  TrainParams taught;
  taught.distill_from = "runs/\"a\"";
  EXPECT_EQ(Difference(taught, taught), "");
  EXPECT_THAT(Difference(alone, taught), HasSubstr("distill_from is"));
  EXPECT_THAT(Difference(taught, alone), HasSubstr("distill_from is"));
  TrainParams other = taught;
  other.optimizer.distill = {.weight = 0.9, .temperature = 2};
  EXPECT_THAT(Difference(other, taught),
              AllOf(HasSubstr("distill_weight is"),
                    HasSubstr("distill_temperature is")));
}

// A difference is found whichever of the two has the default.
TEST(StationOptionsTest, ANetworkIsAlsoWhatItsTensorsDoNotShow) {
  std::vector<TrainParams> others(3);
  others[0].model.blur_pool = true;
  others[1].model.groups = 32;
  others[1].model.width_per_group = 4;
  others[2].normalization = Normalization::kUnit;
  const RunIdentity usual = MakeNetworkIdentity(TrainParams());
  EXPECT_EQ(DescribeDifferences(usual, usual), "");
  for (const TrainParams& other : others) {
    const RunIdentity identity = MakeNetworkIdentity(other);
    EXPECT_NE(DescribeDifferences(identity, usual), "");
    EXPECT_NE(DescribeDifferences(usual, identity), "");
  }
}

TEST(StationOptionsTest, TwoViewsAreTheCropAndItsMirrorImage) {
  const auto views = [](int eval_crops) {
    TrainParams params;
    params.eval_crops = eval_crops;
    const EvalViews of = EvalViewsOf(params);
    return std::pair(of.crops, of.flip);
  };
  EXPECT_EQ(views(1), std::pair(1, false));
  EXPECT_EQ(views(2), std::pair(1, true));
  EXPECT_EQ(views(5), std::pair(5, false));
  EXPECT_EQ(views(10), std::pair(10, false));
}

TEST(StationOptionsTest, DecayEpochsAreNumbersThatRise) {
  const auto epochs = [](const std::string& text,
                         RateSchedule schedule = RateSchedule::kMultistep) {
    TrainParams params;
    params.learning_rate_decay_epochs = text;
    params.optimizer.learning_rate.schedule = schedule;
    return MakeOptimizerOptions(params).learning_rate.decay_epochs;
  };
  EXPECT_THAT(epochs("", RateSchedule::kStep), ElementsAre(30));
  EXPECT_THAT(epochs("2.5", RateSchedule::kStep), ElementsAre(2.5));
  EXPECT_THAT(epochs("30, 60,80"), ElementsAre(30, 60, 80));
  for (const std::string text : {"0", "-1", "a", "3,,4", "5,5", "6,5"}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)epochs(text); }),
                HasSubstr("learning_rate_decay_epochs='" + text +
                          "': must be numbers above 0 that rise"));
  }
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)epochs("30,60", RateSchedule::kStep); }),
              HasSubstr("give learning_rate_schedule=multistep"));
}

// The rates of a run's steps, with the peak 1.
std::vector<double> Rates(const std::string& given, const DataFacts& facts) {
  RunParams run = ReadParams(
      {.overrides = {"base_learning_rate=1,learning_rate_scaling=none," +
                     given}});
  ResolveDefaults(facts, run);
  const LearningRateOptions options =
      MakeOptimizerOptions(run.values).learning_rate;
  std::vector<double> rates;
  for (std::int64_t step = 0; step < run.values.train_steps; ++step) {
    rates.push_back(LearningRate(step, options));
  }
  return rates;
}

struct EpochsOfRates {
  std::string given;
  std::int64_t images;
  int ranks;
  std::int64_t epoch_steps;  // those of PyTorch's loader, where it has such
};

// torch's MultiStepLR({3, 6, 8}), called after each epoch of its loader.
TEST(StationOptionsTest, RatesFallAtTheEndsOfTheRunsEpochs) {
  for (const EpochsOfRates& run : std::vector<EpochsOfRates>{
           {"train_batch_size=64", 128, 1, 2},
           {"train_batch_size=64", 120, 1, 1},
           {"train_batch_size=64,last_batch=drop", 191, 1, 2},
           {"train_batch_size=64,last_batch=pad", 120, 1, 2},
           {"train_batch_size=64,last_batch=repeat", 129, 1, 3},
           {"train_batch_size=64,last_batch=carry", 192, 1, 3},
           {"train_batch_size=128,rank_share=strided", 1023, 8, 8},
           {"train_batch_size=128,rank_share=strided_drop", 1023, 8, 7},
           {"train_batch_size=64,num_train_images=70", 120, 1, 1},
           {"train_batch_size=64,optimizer=lars,poly_rate=1", 120, 1, 1}}) {
    std::vector<double> expected;
    for (int epoch = 0; epoch < 9; ++epoch) {
      const double rate = epoch < 3   ? 1
                          : epoch < 6 ? 0.1
                          : epoch < 8 ? 0.01
                                      : 0.001;
      expected.insert(expected.end(), run.epoch_steps, rate);
    }
    EXPECT_THAT(
        Rates(run.given +
                  ",train_epochs=9,warmup_epochs=0,learning_rate_schedule="
                  "multistep,learning_rate_decay_epochs='3,6,8'",
              {.train_images = run.images,
               .labels = {.classes = 5},
               .ranks = run.ranks}),
        testing::Pointwise(testing::DoubleNear(1e-12), expected))
        << run.given;
  }
}

// LinearLR for two epochs of a step each, and MultiStepLR({3, 6}) after it.
TEST(StationOptionsTest, TheWarmUpTakesTheRunsEpochs) {
  const DataFacts facts = {.train_images = 120, .labels = {.classes = 5}};
  EXPECT_THAT(
      Rates("train_batch_size=64,train_epochs=9,warmup_epochs=2,"
            "learning_rate_schedule=multistep,"
            "learning_rate_decay_epochs='3,6'",
            facts),
      testing::Pointwise(testing::DoubleNear(1e-12),
                         std::vector<double>{0, .5, 1, 1, 1, .1, .1, .1, .01}));
}

// The steps at which the rate falls to a tenth.
std::vector<std::size_t> Falls(const std::vector<double>& rates) {
  std::vector<std::size_t> steps;
  for (std::size_t step = 1; step < rates.size(); ++step) {
    if (rates[step] < 0.2 * rates[step - 1]) {
      steps.push_back(step);
    }
  }
  return steps;
}

TEST(StationOptionsTest, EpochsThatCarryAreTheirImages) {
  const DataFacts flowers = {.train_images = 2934, .labels = {.classes = 5}};
  const std::string multistep =
      "train_batch_size=1024,train_epochs=90,learning_rate_schedule=multistep,"
      "learning_rate_decay_epochs='30,60,80',last_batch=";
  EXPECT_THAT(Falls(Rates(multistep + "drop", flowers)),
              ElementsAre(60, 120, 160));
  // The first steps that begin with a sample of epochs 30, 60 and 80.
  EXPECT_THAT(Falls(Rates(multistep + "carry", flowers)),
              ElementsAre(86, 172, 230));
}

// The reference's driver counts the images of the data, also those that no step
// has: two of its decays lie in the 180 steps of 90 epochs.
TEST(StationOptionsTest, TheReferenceCountsTheDatasImages) {
  const DataFacts flowers = {.train_images = 2934, .labels = {.classes = 5}};
  EXPECT_THAT(Falls(Rates("train_batch_size=1024,train_epochs=90", flowers)),
              ElementsAre(86, 172));
}

}  // namespace
}  // namespace infeed
