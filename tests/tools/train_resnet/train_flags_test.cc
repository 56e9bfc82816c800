#include "tools/train_resnet/train_flags.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

std::optional<TrainFlags> Read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "train_resnet");
  ArgumentVector argv(std::move(arguments));
  return ReadTrainFlags(argv.argc(), argv.argv());
}

// The parameters of a command line that needs no folders.
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

TEST(TrainFlagsTest, RefuseParametersBeforeTheyLookAtData) {
  EXPECT_EQ(ErrorOf({"--params_override", "channels=0"}),
            "channels=0: must be at least 1");
  EXPECT_THAT(
      ErrorOf({"--params_override", "model=resnetblur18,image_size=16"}),
      HasSubstr("give at least 17"));
  EXPECT_THAT(ErrorOf({"--bigtable_instance=i"}),
              HasSubstr("not from Bigtable"));
}

TEST(TrainFlagsTest, NeedTheFoldersOfTheirMode) {
  EXPECT_THAT(FolderError({"--data_dir", "D"}),
              HasSubstr("--model_dir: this mode needs it"));
  EXPECT_THAT(FolderError({"--model_dir", "M"}),
              HasSubstr("--data_dir: this mode needs it"));
  EXPECT_THAT(FolderError({"--model_dir", "M", "--mode", "predict"}),
              HasSubstr("--input: mode predict needs it"));
  EXPECT_THAT(FolderError({"--model_dir", "M", "--mode", "export"}),
              HasSubstr("--export_dir: mode export needs it"));
  EXPECT_EQ(FolderError({"--mode", "doctor"}), "");
  EXPECT_EQ(FolderError(
                {"--mode", "predict", "--model_dir", "M", "--input", "a.jpg"}),
            "");
}

TEST(TrainFlagsTest, ChooseTheCheckpointOfATrainedModel) {
  const auto resume = [](const std::string& checkpoint) {
    return Read({"--mode", "export", "--model_dir", "M", "--export_dir", "E",
                 "--checkpoint", checkpoint})
        ->run.resume;
  };
  EXPECT_EQ(resume("best"), "best");
  EXPECT_EQ(resume("newest"), "auto");
  EXPECT_EQ(resume("12"), "12");
  const auto error = [](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"--data_dir", "D", "--model_dir", "M"};
    all.insert(all.end(), more.begin(), more.end());
    return FolderError(all);
  };
  EXPECT_THAT(error({"--checkpoint", "best"}),
              HasSubstr("--resume chooses where a training run starts"));
  EXPECT_THAT(error({"--mode", "eval", "--checkpoint", "M/checkpoint-1"}),
              HasSubstr("must be best, newest or a step"));
  EXPECT_THAT(
      error({"--mode", "eval", "--checkpoint", "1", "--resume", "2"}),
      HasSubstr("--checkpoint=1: --resume chooses the checkpoint as well"));
  EXPECT_THAT(
      error({"--mode", "eval", "--checkpoint", "1", "--eval_timeout", "2"}),
      HasSubstr("--checkpoint=1: --eval_timeout chooses"));
}

TEST(TrainFlagsTest, ReadTheFlagsOfAllModes) {
  const RunOptions run =
      Read({"--mode=predict", "--model_dir=M", "--input", "a.jpg", "b.jpg",
            "--input", "c", "--predict_batch_size=360", "--num_test_images=372",
            "--resume=never"})
          ->run;
  EXPECT_EQ(run.mode, Mode::kPredict);
  EXPECT_THAT(run.inputs, ElementsAre("a.jpg", "b.jpg", "c"));
  EXPECT_EQ(run.predict_batch_size, 360);
  EXPECT_EQ(run.num_test_images, 372);
  EXPECT_EQ(run.resume, "never");
  const RunOptions exports =
      Read({"--mode=export", "--model_dir=M", "--format=onnx,safetensors",
            "--format", "torchscript", "--export_dir=E"})
          ->run;
  EXPECT_THAT(exports.formats,
              ElementsAre("onnx", "safetensors", "torchscript"));
  EXPECT_EQ(exports.export_dir, "E");
  EXPECT_EQ(Read({"--mode=eval", "--model_dir=M", "--data_dir=D",
                  "--eval_timeout=2.5"})
                ->run.eval_timeout,
            2.5);
}

TEST(TrainFlagsTest, TakeTwoRunsToCompare) {
  const TrainFlags flags = *Read({"--mode=compare", "--model_dir=A", "--with=B",
                                  "--data_dir_b=D", "--json"});
  EXPECT_EQ(flags.run.model_dir, "A");
  EXPECT_EQ(flags.compare.with, "B");
  EXPECT_EQ(flags.compare.data_dir_b, "D");
  EXPECT_TRUE(flags.json);
  EXPECT_THAT(FolderError({"--mode=compare", "--model_dir=A"}),
              HasSubstr("--with: mode compare needs"));
  EXPECT_THAT(
      FolderError(
          {"--mode=compare", "--model_dir=A", "--with=https://b/run?secret"}),
      AllOf(HasSubstr("copy the run's there"), Not(HasSubstr("secret"))));
}

TEST(TrainFlagsTest, ReadTheFlagsOfRanks) {
  const TrainFlags flags =
      *Read({"--model_dir=M", "--data_dir=D", "--local-ranks=4", "--rank=5",
             "--world_size=8", "--local_rank=1", "--local_world_size=4",
             "--master_addr=first", "--master_port=4000", "--rank_timeout=30"});
  EXPECT_EQ(flags.local_ranks, 4);
  EXPECT_EQ(FindRank(flags.rank, ProcessEnvironment()).Describe(),
            "rank 5 of 8 (1 of 4 on this machine), by flags, rank 0 at "
            "first:4000");
  EXPECT_EQ(flags.run.rank_timeout, std::chrono::seconds(30));
  EXPECT_EQ(Read({"--mode=doctor"})->local_ranks, 1);
  EXPECT_THAT(ErrorOf({"--local_ranks=0"}), HasSubstr("--local_ranks"));
  EXPECT_THAT(ErrorOf({"--master_port=70000"}), HasSubstr("--master_port"));
}

TEST(TrainFlagsTest, NameTheModesAndFormats) {
  EXPECT_EQ(ErrorOf({"--mode", "serve"}),
            "mode=serve: must be train, eval, train_and_eval, predict, export, "
            "replay, compare or doctor");
  EXPECT_THAT(ErrorOf({"--format", "onnx,tflite"}), HasSubstr("tflite not in"));
  EXPECT_THAT(ErrorOf({"--eval_timeout=-1"}), HasSubstr("--eval_timeout"));
}

TEST(TrainFlagsTest, ReadTheFlagsOfAReplay) {
  const TrainFlags flags =
      *Read({"--mode=replay", "--model_dir=M", "--step=41,42", "--rank=3",
             "--losses", "--out=O"});
  EXPECT_THAT(flags.run.replay.steps, ElementsAre(41, 42));
  EXPECT_EQ(flags.run.replay.rank, 3);
  EXPECT_TRUE(flags.run.replay.with_losses);
  EXPECT_EQ(flags.run.replay.folder, "O");
  EXPECT_FALSE(flags.rank.rank);  // This process is alone.
}

TEST(TrainFlagsTest, RefuseAReplayWithoutAStepOrIntoAStore) {
  EXPECT_THAT(FolderError({"--mode=replay", "--model_dir=M"}),
              HasSubstr("--step: mode replay needs it"));
  EXPECT_THAT(ErrorOf({"--mode=replay", "--step=1-3"}),
              HasSubstr("1-3 is not a step; give steps like 41,42"));
  EXPECT_THAT(FolderError({"--mode=replay", "--model_dir=s3://b/m", "--step=1",
                           "--out=s3://b/replay"}),
              HasSubstr("--out=s3://b/replay: must be a folder on this disk"));
}

TEST(TrainFlagsTest, RefuseFlagsWithoutEffectInModesThatReadRuns) {
  for (const std::string flag :
       {"--resume=best", "--checkpoint=best", "--force", "--dry_run",
        "--eval_timeout=1", "--local_ranks=2", "--world_size=2", "--input=a",
        "--export_dir=E", "--trace=t.json", "--worker_tls_ca=c.pem"}) {
    const std::string name = flag.substr(0, flag.find('='));
    EXPECT_EQ(FolderError({"--mode=replay", "--model_dir=M", "--step=1", flag}),
              name + ": is not for mode replay");
    EXPECT_EQ(
        FolderError({"--mode=compare", "--model_dir=M", "--with=B", flag}),
        name + ": is not for mode compare");
  }
  EXPECT_EQ(
      FolderError({"--mode=replay", "--model_dir=M", "--step=1", "--json"}),
      "--json: is not for mode replay");
  EXPECT_EQ(
      FolderError({"--mode=compare", "--model_dir=M", "--with=B", "--seed=1"}),
      "--seed: is not for mode compare");
  EXPECT_EQ(FolderError({"--mode=replay", "--model_dir=M", "--step=1",
                         "--data_dir=D", "--device=cpu", "--seed=1",
                         "--params_override=seed=2", "--connections=2"}),
            "");
}

TEST(TrainFlagsTest, RefuseTheFlagsOfModesThatReadRunsInOtherModes) {
  for (const char* const flag : {"--step=1", "--out=O", "--losses"}) {
    EXPECT_THAT(
        FolderError({"--mode=export", "--model_dir=M", "--export_dir=E", flag}),
        HasSubstr(": is for mode replay"));
  }
  for (const char* const flag : {"--with=B", "--data_dir_b=D"}) {
    EXPECT_THAT(FolderError({"--model_dir=M", "--data_dir=D", flag}),
                HasSubstr(": is for mode compare"));
  }
}

TEST(TrainFlagsTest, RefuseTheFlagsOfOtherModes) {
  const auto error = [](const std::string& mode, const std::string& flag) {
    return FolderError(
        {"--model_dir=M", "--data_dir=D", "--mode=" + mode, flag});
  };
  for (const std::string flag :
       {"--input=a.jpg", "--num_test_images=3", "--predict_batch_size=3",
        "--predictions_page=p.html"}) {
    const std::string name = flag.substr(0, flag.find('='));
    EXPECT_EQ(error("predict", flag), "");
    for (const char* const mode : {"train", "train_and_eval", "eval"}) {
      EXPECT_EQ(error(mode, flag), name + ": is for mode predict");
    }
  }
  EXPECT_EQ(error("train", "--eval_timeout=1"),
            "--eval_timeout: is for mode eval");
  EXPECT_EQ(error("train", "--json"),
            "--json: is for the modes compare and doctor");
  EXPECT_EQ(error("eval", "--export_dir=E"),
            "--export_dir: is for the modes train, train_and_eval and export");
  EXPECT_EQ(error("train", "--export_dir=E"), "");
  EXPECT_EQ(error("train", "--average_checkpoints=2"),
            "--average_checkpoints: is for mode export");
  for (const char* const flag : {"--format=onnx", "--export_batch_size=2"}) {
    EXPECT_THAT(error("train", flag), HasSubstr("requires --export_dir"));
  }
}

TEST(TrainFlagsTest, TakeTruthWithAndWithoutAValue) {
  EXPECT_TRUE(Params({"--pre_activation"}).model.pre_activation);
  EXPECT_FALSE(Params({"--pre_activation=false"}).model.pre_activation);
  EXPECT_FALSE(Params({"--nouse_nesterov"}).optimizer.nesterov);
}

TEST(TrainFlagsTest, TheLastOfEqualFlagsCounts) {
  EXPECT_EQ(Params({"--seed=1", "--seed", "2"}).input.seed, 2U);
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

// The training command of the ResNet-50 on TPU guide.
TEST(TrainFlagsTest, TakeTheGuidesCommandAsItIs) {
  testing::internal::CaptureStderr();
  const TrainFlags flags =
      *Read({"--tpu=flowers", "--data_dir=gs://bucket/data",
             "--param_overrides=train_steps=42,iterations_per_loop=6,"
             "num_parallel_calls=64,train_batch_size=1024",
             "--model_dir=gs://bucket/model",
             "--resnet_checkpoint=gs://bucket/resnet-nhwc-2018-02-07",
             "--mode=train_and_eval", "--steps_per_eval=42",
             "--profile_every_n_steps=1", "--tpu_profile_duration=15000",
             "--export_dir=gs://bucket/export"});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--tpu has"));
  const TrainParams params = ReadParams(flags.layers).values;
  EXPECT_EQ(params.train_steps, 42);
  EXPECT_EQ(params.input.threads, 64);
  EXPECT_EQ(params.tpu_profile_duration, 15000);
  EXPECT_EQ(flags.run.mode, Mode::kTrainAndEval);
  EXPECT_EQ(flags.run.export_dir, "gs://bucket/export");
}

TEST(TrainFlagsTest, TakeAnEmptyDataFolderForFakeData) {
  const RunOptions run = Read({"--data_dir=", "--model_dir", "M"})->run;
  EXPECT_EQ(run.data_dir, "null");
  EXPECT_EQ(run.model_dir, "M");
  EXPECT_EQ(FolderError({"--data_dir", "--mode", "train"}),
            "--data_dir: its value is missing, the flag --mode comes next");
}

TEST(TrainFlagsTest, SuggestTheNearestForAnUnknownOne) {
  EXPECT_EQ(ErrorOf({"--modle-dir", "M"}),
            "unknown flag '--modle_dir': did you mean '--model_dir'?");
  EXPECT_EQ(ErrorOf({"--xyzzyx"}),
            "unknown flag '--xyzzyx': see train_resnet --help_all");
  EXPECT_THAT(ErrorOf({"shards"}), HasSubstr("'shards': not a flag"));
}

TEST(TrainFlagsTest, KnowTheNamesOfOtherPrograms) {
  for (const auto& [other, ours] : {std::pair("epochs", "train_epochs"),
                                    {"data", "data_dir"},
                                    {"output-dir", "model_dir"}}) {
    EXPECT_THAT(
        ErrorOf({std::string("--") + other, "1"}),
        testing::EndsWith(std::string(": did you mean '--") + ours + "'?"));
  }
  EXPECT_EQ(ErrorOf({"-lr", "0.1"}),
            "unknown flag '-lr': did you mean '--base_learning_rate'?");
}

// The output of a flag that only prints.
std::string Answer(const std::string& flag) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(Read({flag}).has_value());
  return testing::internal::GetCapturedStdout();
}

TEST(TrainHelpTest, IsShort) {
  const std::string help = Answer("--help");
  EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 120);
  EXPECT_THAT(help, AllOf(HasSubstr("--mode train|eval|"),
                          HasSubstr("\nLearning (parameters):\n"),
                          HasSubstr("Peak of the learning rate"),
                          HasSubstr("Examples:"), HasSubstr("Exit codes:")));
  EXPECT_THAT(help, Not(HasSubstr("--weight_decay")));
  EXPECT_THAT(help, Not(HasSubstr("Replay:")));
  EXPECT_THAT(help, Not(HasSubstr("bigtable")));
}

TEST(TrainHelpTest, ShowsAllParametersWithUnitsWhereAllIsAskedFor) {
  const std::string help = Answer("--help_all");
  EXPECT_THAT(help, AllOf(HasSubstr("Peak of the learning rate"),
                          HasSubstr("--weight_decay"), HasSubstr("--losses"),
                          HasSubstr("--data_dir_b DIR"),
                          HasSubstr("--num_parallel_calls THREADS\n"),
                          HasSubstr("--steps_per_eval STEPS"),
                          HasSubstr("--warmup_epochs EPOCHS")));
  for (const Param& param : ParamTable()) {
    if (!param.unit.empty() && param.choices.empty()) {
      EXPECT_THAT(help, testing::ContainsRegex(" --" + std::string(param.name) +
                                               " [A-Z]+[ \n]"));
    }
  }
}

}  // namespace
}  // namespace infeed
