#include "trainer/params/teacher.h"

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/save.h"
#include "trainer/formats/safetensors.h"
#include "trainer/loop/device_loop.h"
#include "trainer/results/model_dir.h"
#include "trainer/run/memory.h"

namespace infeed::teacher_test {

const DeviceOptions kCpu = {.device = "cpu", .threads = 1};

// A model directory of LeNet with two checkpoints, of which the first is the
// best, and a run of LeNet that learns from it.
class TeacherTest : public testing::Test {
 protected:
  TeacherTest() {
    WriteParams("label_offset: 1\nnormalization: unit\n");
    for (const std::uint64_t step : {1, 2}) {
      SaveCheckpoint(dir_, {.step = static_cast<std::int64_t>(step),
                            .stream = {},
                            .identity = {},
                            .state = State(step)});
    }
    std::ofstream(MetricsPath(dir_))
        << R"({"schema":1,"time":1.0,"event":"eval","step":1,"loss":0.5,)"
        << R"("top_1":0.75,"top_5":1.0})"
        << "\n";
    TrainParams& params = run_.values;
    params.model.kind = ModelKind::kLeNet;
    params.normalization = Normalization::kUnit;
    params.input.num_label_classes = 4;
    params.input.label_offset = 1;
    params.input.preprocess.image_size = 28;
    params.input.batch_size = 8;
    params.distill_from = dir_;
    options_.device = "cpu";
  }

  void WriteParams(const std::string& more) const {
    std::ofstream(ParamsPath(dir_))
        << "model: lenet\nimage_size: 28\nnum_label_classes: 4\n"
        << more;
  }
  static ModelState State(std::uint64_t seed) {
    return MakeDeviceLoop(
               {.kind = ModelKind::kLeNet, .num_classes = 4, .seed = seed},
               {.moving_average_decay = 0.9}, kCpu)
        ->Save();
  }
  std::optional<Teacher> Find() { return FindTeacher(options_, run_); }
  std::string Error() {
    const std::string error = MessageOf<UsageError>([&] { (void)Find(); });
    EXPECT_THAT(error, HasSubstr("distill_from=" + run_.values.distill_from));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    return error;
  }

  TemporaryFolder folder_;
  const std::string& dir_ = folder_.path();
  TemporaryFolder other_;
  RunOptions options_;
  RunParams run_;
};

TEST_F(TeacherTest, WithoutABestTheNewestTeaches) {
  const auto teacher = Find();
  ASSERT_TRUE(teacher);
  EXPECT_EQ(teacher->weights, State(2).model);
  EXPECT_EQ(teacher->text, "LeNet-5, step 2 of " + dir_ +
                               "; loss soft, weight 0.5, temperature 1");
  EXPECT_EQ(teacher->model.kind, ModelKind::kLeNet);
  EXPECT_EQ(teacher->model.num_classes, 4);
}

TEST_F(TeacherTest, TheBestTeachesAndItsMetricIsPrinted) {
  ASSERT_TRUE(BestCheckpoint(dir_, "top_1").Note(1, 0.75));
  const auto teacher = Find();
  ASSERT_TRUE(teacher);
  EXPECT_EQ(teacher->weights, State(1).model);
  EXPECT_THAT(teacher->text, HasSubstr("step 1 of " + dir_ + ", top-1 0.7500"));
}

TEST_F(TeacherTest, HasTheAveragesOfItsWeights) {
  Checkpoint checkpoint = {
      .step = 3, .stream = {}, .identity = {}, .state = State(3)};
  checkpoint.state.optimizer["fc3.bias/average"].bytes[0] = std::byte{7};
  SaveCheckpoint(dir_, checkpoint);
  EXPECT_EQ(Find()->weights["fc3.bias"].bytes[0], std::byte{7});
}

TEST_F(TeacherTest, OnlyTrainingRunsHaveATeacher) {
  options_.mode = Mode::kEval;
  EXPECT_FALSE(Find());
  options_.mode = Mode::kTrain;
  run_.values.distill_from = "";
  EXPECT_FALSE(Find());
}

TEST_F(TeacherTest, MustFitTheRun) {
  run_.values.input.num_label_classes = 5;
  EXPECT_THAT(Error(), HasSubstr("its num_label_classes is 4, this run's 5"));
  run_.values.input.num_label_classes = 4;
  run_.values.input.label_offset = 0;
  EXPECT_THAT(Error(), HasSubstr("its label_offset is 1, this run's 0"));
  run_.values.input.label_offset = 1;
  run_.values.normalization = Normalization::kImagenet;
  EXPECT_THAT(Error(),
              HasSubstr("its normalization is unit, this run's imagenet"));
  run_.values.normalization = Normalization::kUnit;
  run_.values.input.preprocess.image_size = 32;
  EXPECT_THAT(Error(), HasSubstr("28 pixels"));
  run_.values.input.preprocess.image_size = 28;
  run_.values.distill_model = "resnet18";
  EXPECT_THAT(Error(), HasSubstr("leave distill_model out"));
}

TEST_F(TeacherTest, MustBeThere) {
  run_.values.distill_from = other_.path();
  EXPECT_THAT(Error(), HasSubstr("not a model_dir with a params.yaml"));
  run_.values.distill_model = "resnet18";
  EXPECT_THAT(Error(), HasSubstr("no checkpoint in this folder"));
  run_.values.distill_from = other_ / "none.pth";
  EXPECT_THAT(Error(), HasSubstr("no such file or folder"));
  run_.values.distill_model = "";
  run_.values.distill_from = "resnet18";
  EXPECT_THAT(Error(), HasSubstr("no weights of this name"));
  WriteParams("");
  TemporaryFolder empty;
  std::ofstream(ParamsPath(empty.path())) << "model: lenet\n";
  run_.values.distill_from = empty.path();
  EXPECT_THAT(Error(), Not(HasSubstr("params.yaml")));
}

TEST_F(TeacherTest, MayBeWeightsOfANamedNetwork) {
  const ModelOptions model = {.depth = 18, .num_classes = 4, .seed = 9};
  const TensorMap weights = MakeDeviceLoop(model, {}, kCpu)->Save().model;
  run_.values.distill_from = other_ / "w.safetensors";
  WriteSafetensors(run_.values.distill_from, weights);
  run_.values.distill_model = "resnet18";
  const auto teacher = Find();
  ASSERT_TRUE(teacher);
  EXPECT_EQ(teacher->weights, weights);
  EXPECT_EQ(teacher->model.depth, 18);
  EXPECT_THAT(teacher->text, HasSubstr("resnet18 of "));

  run_.values.distill_model = "resnet34";
  EXPECT_THAT(Error(), HasSubstr("does not fit the model"));
  run_.values.distill_model = "resnet18";
  run_.values.input.num_label_classes = 5;
  EXPECT_THAT(Error(), HasSubstr("the classifier fc is [4, 512] in the file "
                                 "and [5, 512] in the model"));
}

TEST_F(TeacherTest, HasTheGeometryOfItsExport) {
  const ModelOptions model = {
      .variant = ModelVariant::kTpu, .depth = 18, .num_classes = 4};
  run_.values.distill_from = other_ / "model.safetensors";
  WriteSafetensors(run_.values.distill_from,
                   MakeDeviceLoop(model, {}, kCpu)->Save().model);
  std::ofstream(other_ / "preprocessing.json")
      << R"({"trained": {"model_variant": "tpu"}})";
  run_.values.distill_model = "resnet18";
  const auto teacher = Find();
  ASSERT_TRUE(teacher);
  EXPECT_EQ(teacher->model.variant, ModelVariant::kTpu);
  EXPECT_THAT(teacher->text, HasSubstr(", model_variant=tpu"));
}

TEST_F(TeacherTest, TakesMemory) {
  const std::int64_t alone = TrainingNeed(options_, run_.values).device;
  ASSERT_TRUE(Find());
  EXPECT_GT(TrainingNeed(options_, run_.values).device, alone);
}

}  // namespace infeed::teacher_test
