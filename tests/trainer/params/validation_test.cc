#include "trainer/params/validation.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

class ValidationTest : public testing::Test {
 protected:
  ValidationTest() {
    raw_.JpegsIn("validation/ant", 2).JpegsIn("validation/bee", 2);
    params_.eval_batch_size = 2;
    params_.precision = Precision::kFloat32;
  }

  // The subject of an evaluation, with the training's own settings.
  static EvalSubject Subject(const TrainParams& run,
                             const TrainParams& training, const DataSet& data,
                             const EvalOrigin& origin = {}) {
    return MakeSubject(MakeValidation(run, data, "cpu"),
                       MakeValidation(training, data, "cpu"), origin);
  }

  ImageFolder raw_;
  TrainParams params_;
};

struct Setting {
  std::string name;  // in the differences
  std::function<void(TrainParams&)> change;
};

// Settings for images in a folder; some of them also for fake data.
std::vector<Setting> SettingsOfImages() {
  return {{"image_size",
           [](TrainParams& p) { p.input.preprocess.image_size = 32; }},
          {"recipe",
           [](TrainParams& p) { p.input.preprocess.recipe = Recipe::kPlain; }},
          {"interpolation",
           [](TrainParams& p) {
             p.input.preprocess.interpolation = Interpolation::kAntialias;
           }},
          {"eval_resize",
           [](TrainParams& p) { p.input.preprocess.crop.eval_resize = 300; }},
          {"num_eval_images", [](TrainParams& p) { p.num_eval_images = 3; }},
          {"label_offset", [](TrainParams& p) { p.input.label_offset = 0; }}};
}
std::vector<Setting> SettingsOfModel() {
  return {
      {"precision", [](TrainParams& p) { p.precision = Precision::kBfloat16; }},
      {"eval_crops", [](TrainParams& p) { p.eval_crops = 5; }},
      {"label_smoothing",
       [](TrainParams& p) { p.optimizer.loss.label_smoothing = 0.1; }},
      {"moving_average",
       [](TrainParams& p) { p.optimizer.moving_average_decay = 0.9; }},
      {"image_size",
       [](TrainParams& p) { p.input.preprocess.image_size = 32; }}};
}

// An evaluation with such a setting does not replace the training's own.
TEST_F(ValidationTest, SettingsThatChangeNumbersMakeAnotherSubject) {
  const auto expect_others = [&](const std::vector<Setting>& settings,
                                 const DataSet& data) {
    const EvalSubject own = Subject(params_, params_, data);
    EXPECT_THAT(own.differences, IsEmpty());
    for (const auto& [name, change] : settings) {
      TrainParams run = params_;
      change(run);
      const EvalSubject subject = Subject(run, params_, data);
      EXPECT_FALSE(subject.is_own()) << name;
      EXPECT_THAT(subject.differences, HasSubstr(name + " is "));
      EXPECT_NE(subject.key, own.key) << name;
    }
  };
  const DataSet images(raw_.path());
  expect_others(SettingsOfImages(), images);
  expect_others(SettingsOfModel(), images);
  expect_others(SettingsOfModel(), DataSet("null"));
}

// The first images, which earlier versions evaluated, are other ones.
TEST_F(ValidationTest, ASampleIsNotTheFirstImages) {
  const DataSet data(raw_.path());
  const auto images = [&](std::int64_t number) {
    params_.num_eval_images = number;
    const RunIdentity identity = MakeValidation(params_, data, "cpu");
    return std::ranges::find(identity, "num_eval_images", &StateField::name)
        ->value;
  };
  EXPECT_EQ(images(3), "\"sample of 3\"");
  EXPECT_EQ(images(4), "4");
}

// Settings of speed, and of the training alone.
TEST_F(ValidationTest, OtherSettingsKeepTheTrainingsOwnName) {
  TrainParams run = params_;
  run.eval_batch_size = 4;
  run.input.batch_size = 16;
  run.input.threads = 1;
  run.input.seed = 7;
  run.train_steps = 9;
  run.precision = {};  // on a CPU float32
  EXPECT_TRUE(Subject(run, params_, DataSet(raw_.path())).is_own());
}

// After a loss that is not a number, a training may resume in float32, with its
// history of evaluations.
TEST_F(ValidationTest, ATrainingMayResumeInAnotherPrecision) {
  const DataSet data(raw_.path());
  const RunIdentity before = MakeValidation(params_, data, "cpu");
  TrainParams resumed = params_;
  resumed.precision = Precision::kBfloat16;
  const RunIdentity now = MakeValidation(resumed, data, "cpu");
  EXPECT_EQ(DescribeOtherValidation(now, before), "");
  EXPECT_EQ(MakeSubject(now, now).key, MakeSubject(before, before).key);
  resumed.eval_crops = 2;
  EXPECT_THAT(
      DescribeOtherValidation(MakeValidation(resumed, data, "cpu"), before),
      HasSubstr("eval_crops is"));
}

// With --force another network, such as another normalization, is evaluated.
TEST_F(ValidationTest, AnotherNetworkIsAnotherSubject) {
  const DataSet data("null");
  const EvalSubject subject = Subject(
      params_, params_, data,
      {.network = "normalization is unit, the checkpoint has imagenet"});
  EXPECT_THAT(subject.differences, HasSubstr("normalization is unit"));
  EXPECT_NE(subject.key, Subject(params_, params_, data).key);
}

}  // namespace
}  // namespace infeed
