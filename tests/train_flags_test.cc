#include "tools/train_flags.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::optional<TrainFlags> Read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "train_resnet");
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  return ReadTrainFlags(static_cast<int>(argv.size()), argv.data());
}

// Of what needs no folders.
TrainParams Params(std::vector<std::string> arguments) {
  arguments.emplace_back("--print_config");
  return ReadParams(Read(std::move(arguments))->layers).values;
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  return MessageOf<UsageError>([&] { (void)Params(arguments); });
}

std::string FolderError(const std::vector<std::string>& arguments) {
  return MessageOf<UsageError>([&] { (void)Read(arguments); });
}

TEST(TrainFlagsTest, NeedTheFoldersOfTheirMode) {
  EXPECT_THAT(FolderError({"--data_dir", "D"}),
              HasSubstr("--model_dir: this mode needs it"));
  EXPECT_THAT(FolderError({"--model_dir", "M"}),
              HasSubstr("--data_dir: this mode needs it"));
  EXPECT_THAT(FolderError({"--model_dir", "M", "--mode", "predict"}),
              HasSubstr("--data_dir: this mode needs it"));
  EXPECT_THAT(FolderError({"--model_dir", "M", "--mode", "export"}),
              HasSubstr("--export_dir: mode export needs it"));
  EXPECT_EQ(FolderError({"--mode", "doctor"}), "");
  EXPECT_EQ(FolderError(
                {"--mode", "predict", "--model_dir", "M", "--input", "a.jpg"}),
            "");
}

TEST(TrainFlagsTest, ReadTheFlagsOfAllModes) {
  const RunOptions run =
      Read({"--mode=predict", "--model_dir=M", "--input", "a.jpg", "b.jpg",
            "--input", "c", "--predict_batch_size=360", "--num_test_images=372",
            "--eval_timeout=2.5", "--resume=never", "--format=onnx,safetensors",
            "--format", "torchscript", "--export_dir=E"})
          ->run;
  EXPECT_EQ(run.mode, Mode::kPredict);
  EXPECT_THAT(run.inputs, ElementsAre("a.jpg", "b.jpg", "c"));
  EXPECT_EQ(run.predict_batch_size, 360);
  EXPECT_EQ(run.num_test_images, 372);
  EXPECT_EQ(run.eval_timeout, 2.5);
  EXPECT_EQ(run.resume, "never");
  EXPECT_THAT(run.formats, ElementsAre("onnx", "safetensors", "torchscript"));
  EXPECT_EQ(run.export_dir, "E");
}

TEST(TrainFlagsTest, NameTheModesAndFormats) {
  EXPECT_EQ(ErrorOf({"--mode", "serve"}),
            "mode=serve: must be train, eval, train_and_eval, predict, export "
            "or doctor");
  EXPECT_THAT(ErrorOf({"--format", "onnx,tflite"}), HasSubstr("tflite not in"));
  EXPECT_THAT(ErrorOf({"--eval_timeout=-1"}), HasSubstr("--eval_timeout"));
}

TEST(TrainFlagsTest, TakeTruthWithAndWithoutAValue) {
  EXPECT_TRUE(Params({"--pre_activation"}).pre_activation);
  EXPECT_FALSE(Params({"--pre_activation=false"}).pre_activation);
  EXPECT_FALSE(Params({"--nouse_nesterov"}).use_nesterov);
}

TEST(TrainFlagsTest, LetTheLastOfOneNameWin) {
  EXPECT_EQ(Params({"--seed=1", "--seed", "2"}).seed, 2U);
}

TEST(TrainFlagsTest, AcceptTheReferencesOthersAndSayThatTheyDoNothing) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(ErrorOf({"--tpu=grpc://10.0.0.2:8470", "--gcp_project", "p",
                     "--tpu_zone", "z", "--eval_master=m", "--export_to_tpu",
                     "--add_warmup_requests=false", "--model_name=resnet",
                     "--inference_batch_sizes=8", "--inference_batch_sizes=16",
                     "--use_tpu", "--num_cores=8", "--transpose_input=True"}),
            "");
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("--tpu has no effect: there is no TPU here"),
            HasSubstr("--model_name has no effect: there is no serving")));
}

TEST(TrainFlagsTest, RefuseTheReferencesOthersThatChangeTheRun) {
  EXPECT_THAT(ErrorOf({"--bigtable_instance=i"}),
              HasSubstr("not from Bigtable"));
  EXPECT_THAT(ErrorOf({"--num_cores=16"}),
              HasSubstr("a process drives one device"));
  EXPECT_THAT(ErrorOf({"--data_format=channels_first"}),
              HasSubstr("channels_last"));
}

}  // namespace
}  // namespace infeed
