#include "trainer/params/presets.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

RunParams RunOf(std::string_view preset,
                const std::string& override_text = "") {
  return ReadParams(
      {.preset = std::string(preset), .overrides = {override_text}});
}

TrainParams Values(std::string_view preset) { return RunOf(preset).values; }

TEST(PresetsTest, PresetsHaveValidParametersAndALineOnThePage) {
  const std::string page = ReadWholeFile(INFEED_DOCS "/recipes.md", 1 << 20);
  for (const Preset& preset : Presets()) {
    EXPECT_NO_THROW((void)Values(preset.name)) << preset.name;
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
  const RunParams a3 = RunOf("timm_a3");
  EXPECT_EQ(a3.values.train_epochs, 100);
  EXPECT_DOUBLE_EQ(a3.values.optimizer.weight_decay, 0.02);
  EXPECT_EQ(a3.values.optimizer.kind, OptimizerKind::kLamb);
  EXPECT_EQ(a3.values.input.preprocess.augment.magnitude, 6);
  EXPECT_EQ(a3.origins.at("optimizer"), "preset timm_a3");
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
  const RunParams run =
      ReadParams({.model_file = file, .preset = "tpu_reference"});
  EXPECT_EQ(run.values.model.depth, 18);
  EXPECT_EQ(run.values.model.variant, ModelVariant::kTpu);
  EXPECT_EQ(run.origins.at("resnet_depth"), "the model");
}

TEST(PresetsTest, LetEpochsReplaceTheirSteps) {
  const TrainParams params = RunOf("tpu_reference", "train_epochs=2").values;
  EXPECT_EQ(params.train_steps, 0);
  EXPECT_EQ(params.train_epochs, 2);
}

// On ImageNet and MNIST, the run is the published one.
TEST(PresetsTest, PresetsHaveTheirSourcesLengthAndRate) {
  const auto steps = [](std::string_view preset, std::int64_t train_images,
                        int classes) {
    RunParams run = RunOf(preset);
    ResolveDefaults({.train_images = train_images,
                     .eval_images = 10'000,
                     .labels = {.classes = classes, .first = 1, .found = {}}},
                    run);
    return run.values.train_steps;
  };
  for (const auto& [preset, expected] : {std::pair("tpu_reference", 113'854),
                                         {"torchvision_v1", 90 * 5004},
                                         {"torchvision_v2", 600 * 1251},
                                         {"timm_a1", 600 * 625},
                                         {"mlperf", 14'700},
                                         {"ffcv_16", 16 * 1251},
                                         {"xla_jl", 1000}}) {
    EXPECT_EQ(steps(preset, 1'281'167, 1000), expected) << preset;
  }
  EXPECT_EQ(steps("x10_lenet", 60'000, 10), 5 * 469);
  EXPECT_EQ(Values("xla_jl").iterations_per_loop, 1000);
  EXPECT_EQ(Values("xla_jl").input.num_label_classes, 1000);
  EXPECT_DOUBLE_EQ(
      Values("ffcv_16").optimizer.learning_rate.base_learning_rate * 4096 / 256,
      1.7);
}

}  // namespace
}  // namespace infeed
