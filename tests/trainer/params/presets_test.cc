#include "trainer/params/presets.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

using testing::HasSubstr;

TrainParams Values(std::string_view preset) {
  return ReadParams({.preset = std::string(preset),
                     .config_file = "",
                     .overrides = {},
                     .flags = {}})
      .values;
}

TEST(PresetsTest, PresetsHaveValidParameters) {
  for (const Preset& preset : Presets()) {
    EXPECT_NO_THROW((void)Values(preset.name)) << preset.name;
  }
}

TEST(PresetsTest, PagesNameAllPresets) {
  const std::string page = ReadWholeFile(INFEED_DOCS "/recipes.md", 1 << 20);
  for (const Preset& preset : Presets()) {
    EXPECT_THAT(page, HasSubstr("| `" + std::string(preset.name) + "` |"));
  }
}

TEST(PresetsTest, RefuseAnUnknownName) {
  EXPECT_EQ(MessageOf<UsageError>([] { (void)Values("tpu_v4"); }),
            "preset=tpu_v4: must be tpu_reference, mlperf, torchvision_v1, "
            "torchvision_v2, timm_a1, timm_a2, timm_a3, rsb_finetune, ffcv_16, "
            "x10_lenet, xla_jl, lenet_best, cifar or finetune");
}

TEST(PresetsTest, PresetsInheritFromTheirBase) {
  const TrainParams a3 = Values("timm_a3");
  EXPECT_EQ(a3.train_epochs, 100);
  EXPECT_DOUBLE_EQ(a3.optimizer.weight_decay, 0.02);
  EXPECT_EQ(a3.optimizer.kind, OptimizerKind::kLamb);
  EXPECT_EQ(a3.input.augment.magnitude, 6);
  const RunParams run = ReadParams(
      {.preset = "timm_a3", .config_file = "", .overrides = {}, .flags = {}});
  EXPECT_EQ(run.origins.at("optimizer"), "preset timm_a3");
}

TEST(PresetsTest, LieBelowAllThatIsGiven) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/run.yaml";
  WriteFileAtomically(file, "train_batch_size: 32\neval_batch_size: 32\n");
  const RunParams run =
      ReadParams({.preset = "tpu_reference",
                  .config_file = file,
                  .overrides = {"eval_batch_size=16,precision=float32"},
                  .flags = {{"precision", "auto"}}});
  EXPECT_EQ(run.values.input.batch_size, 32);
  EXPECT_EQ(run.values.eval_batch_size, 16);
  EXPECT_EQ(run.values.precision, std::nullopt);
  EXPECT_EQ(run.values.model.variant, ModelVariant::kTpu);
  EXPECT_EQ(run.origins.at("model_variant"), "preset tpu_reference");
  EXPECT_EQ(run.origins.at("train_batch_size"), "config file");
}

TEST(PresetsTest, LieAboveATrainedModelsOwn) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/params.yaml";
  WriteFileAtomically(file, "resnet_depth: 18\nmodel_variant: torchvision\n");
  const RunParams run = ReadParams({.model_file = file,
                                    .preset = "tpu_reference",
                                    .config_file = "",
                                    .overrides = {},
                                    .flags = {}});
  EXPECT_EQ(run.values.model.depth, 18);
  EXPECT_EQ(run.values.model.variant, ModelVariant::kTpu);
  EXPECT_EQ(run.origins.at("resnet_depth"), "the model");
}

TEST(PresetsTest, FinetuneIsForShortRunsAndOwnImages) {
  const TrainParams params = Values("finetune");
  EXPECT_EQ(params.optimizer.learning_rate.schedule, RateSchedule::kCosine);
  EXPECT_GT(params.optimizer.learning_rate.warmup_epochs, 0);
  EXPECT_GT(params.train_epochs, params.optimizer.learning_rate.warmup_epochs);
  EXPECT_LT(params.optimizer.body_rate_factor, 1);
}

TEST(PresetsTest, LetEpochsReplaceTheirSteps) {
  const RunParams run = ReadParams({.preset = "tpu_reference",
                                    .config_file = "",
                                    .overrides = {"train_epochs=2"},
                                    .flags = {}});
  EXPECT_EQ(run.values.train_steps, 0);
  EXPECT_EQ(run.values.train_epochs, 2);
}

// On ImageNet, the run is the published one.
TEST(PresetsTest, PresetsHaveTheirSourcesLengthAndRate) {
  const DataFacts imagenet = {
      .train_images = 1'281'167,
      .eval_images = 50'000,
      .labels = {.classes = 1000, .first = 1, .found = {}}};
  const auto steps = [&](const std::string& preset) {
    RunParams run = ReadParams(
        {.preset = preset, .config_file = "", .overrides = {}, .flags = {}});
    ResolveDefaults(imagenet, run);
    return run.values.train_steps;
  };
  EXPECT_EQ(steps("tpu_reference"), 113'854);
  EXPECT_EQ(steps("torchvision_v1"), 90 * 5004);
  EXPECT_EQ(steps("torchvision_v2"), 600 * 1251);
  EXPECT_EQ(steps("timm_a1"), 600 * 625);
  EXPECT_EQ(steps("mlperf"), 14'700);
  EXPECT_EQ(steps("ffcv_16"), 16 * 1251);
  EXPECT_EQ(steps("xla_jl"), 1000);
  EXPECT_EQ(Values("xla_jl").iterations_per_loop, 1000);
  EXPECT_EQ(Values("xla_jl").input.num_label_classes, 1000);
  EXPECT_DOUBLE_EQ(
      Values("ffcv_16").optimizer.learning_rate.base_learning_rate * 4096 / 256,
      1.7);

  RunParams mnist = ReadParams(
      {.preset = "x10_lenet", .config_file = "", .overrides = {}, .flags = {}});
  ResolveDefaults({.train_images = 60'000,
                   .eval_images = 10'000,
                   .labels = {.classes = 10, .first = 1, .found = {}}},
                  mnist);
  EXPECT_EQ(mnist.values.train_steps, 5 * 469);
}

}  // namespace
}  // namespace infeed
