#include "trainer/params/station_options.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
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

}  // namespace
}  // namespace infeed
