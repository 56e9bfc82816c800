// The command line of train_resnet, as far as no training is needed.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_program.h"

namespace infeed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

ProgramResult TrainResnet(const std::string& arguments) {
  return RunProgram("train_resnet", arguments);
}

// The line that --print_config prints of a parameter.
std::string Printed(const std::string& arguments, const std::string& name) {
  const std::string out = "\n" + TrainResnet(arguments + " --print_config").out;
  const std::size_t begin = out.find("\n" + name + ": ");
  return begin == std::string::npos
             ? ""
             : out.substr(begin + 1, out.find('\n', begin + 1) - begin - 1);
}

void ExpectRefused(const std::string& arguments, const std::string& why) {
  const ProgramResult result = TrainResnet(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments;
  EXPECT_THAT(result.err, HasSubstr(why));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST(TrainFlagsTest, NeedTheFoldersOfTheirMode) {
  ExpectRefused("--data_dir D", "--model_dir: this mode needs it");
  ExpectRefused("--model_dir M", "--data_dir: this mode needs it");
  ExpectRefused("--mode predict --model_dir M", "--data_dir: this mode needs");
  ExpectRefused("--mode export --model_dir M", "--export_dir: mode export");
}

TEST(TrainFlagsTest, NameTheModesAndFormats) {
  ExpectRefused("--mode serve",
                "mode=serve: must be train, eval, train_and_eval, predict, "
                "export or doctor");
  ExpectRefused("--format onnx,tflite", "tflite not in");
}

TEST(TrainFlagsTest, TakeTruthWithAndWithoutAValue) {
  EXPECT_EQ(Printed("--pre_activation", "pre_activation"),
            "pre_activation: true  # flag");
  EXPECT_EQ(Printed("--pre_activation=false", "pre_activation"),
            "pre_activation: false  # flag");
  EXPECT_EQ(Printed("--nouse_nesterov", "use_nesterov"),
            "use_nesterov: false  # flag");
}

TEST(TrainFlagsTest, AcceptTheReferencesOthersAndSayThatTheyDoNothing) {
  const ProgramResult result = TrainResnet(
      "--tpu=grpc://10.0.0.2:8470 --gcp_project p --tpu_zone z --eval_master m "
      "--export_to_tpu --add_warmup_requests=false --model_name resnet "
      "--inference_batch_sizes=8 --inference_batch_sizes=16 --use_tpu "
      "--num_cores=8 --transpose_input=True --print_config");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("--tpu has no effect: there is no TPU here"),
            HasSubstr("--model_name has no effect: there is no serving")));
}

TEST(TrainFlagsTest, RefuseTheReferencesOthersThatChangeTheRun) {
  ExpectRefused("--bigtable_instance=i", "not from Bigtable");
  ExpectRefused("--num_cores=16 --print_config", "a process drives one device");
  ExpectRefused("--data_format=channels_first --print_config", "channels_last");
}

}  // namespace
}  // namespace infeed
