#include "trainer/params/precision_trial.h"

#include <gtest/gtest.h>

#include "trainer/feed/run_input.h"
#include "trainer/loop/device_loop.h"
#include "trainer/params/station_options.h"

namespace infeed {
namespace {

TrainParams Small() {
  TrainParams params;
  params.model.depth = 18;
  params.input.preprocess.image_size = 32;
  params.input.num_label_classes = 4;
  params.num_train_images = 64;
  params.input.batch_size = 8;
  params.train_steps = 100;
  params.optimizer.learning_rate.base_learning_rate = 0.1;
  params.model.dropout_rate = 0.5;  // draws
  return params;
}

// The model's hash after three steps.
std::uint64_t Trained() {
  const TrainParams params = Small();
  DeviceOptions device = MakeDeviceOptions(params, "cpu");
  device.threads = 1;
  const auto loop = MakeDeviceLoop(MakeModelOptions(params),
                                   MakeOptimizerOptions(params), device);
  Infeed infeed(OpenInput(nullptr, {.batch_size = 8,
                                    .preprocess = {.image_size = 32},
                                    .batches_in_pool = kLeastBatches}),
                8, 32);
  Outfeed outfeed([](const StepResult& /*result*/) {});
  EXPECT_EQ(loop->Train(0, 3, infeed, outfeed), 3);
  return loop->Hash();
}

TEST(PrecisionTrialTest, LeavesTheTrainingAsItIs) {
  const std::uint64_t without = Trained();
  const PrecisionSpeeds speeds =
      TimePrecisions(Small(), {.device = "cpu", .threads = 1}, 2);
  EXPECT_GT(speeds.float32, 0);
  EXPECT_GT(speeds.bfloat16, 0);
  EXPECT_EQ(Trained(), without);
}

TEST(PrecisionTrialTest, TakesBfloat16WhereItIsClearlyFaster) {
  EXPECT_EQ(ClearlyFaster({.float32 = 100, .bfloat16 = 119}),
            Precision::kFloat32);
  EXPECT_EQ(ClearlyFaster({.float32 = 100, .bfloat16 = 121}),
            Precision::kBfloat16);
}

TEST(PrecisionTrialTest, HasBatchesThatTakeATenthOfASecond) {
  TrainParams params = Small();
  EXPECT_EQ(TrialBatch(params, 1, 2), 8) << "a whole batch of small images";
  EXPECT_EQ(TrialBatch(params, 4, 2), 2) << "a rank's part";
  params.model.depth = 50;
  params.input.preprocess.image_size = 224;
  params.input.batch_size = 256;
  EXPECT_EQ(TrialBatch(params, 1, 1), 1);
  EXPECT_EQ(TrialBatch(params, 1, 64), 26);
}

TEST(PrecisionTrialTest, ShortRunsHaveNoTrial) {
  TrainParams params = Small();
  EXPECT_FALSE(IsWorthATrial(params, 8));
  params.train_steps = 160;
  EXPECT_TRUE(IsWorthATrial(params, 8));
}

}  // namespace
}  // namespace infeed
