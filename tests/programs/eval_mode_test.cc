// The program train_resnet --mode eval.

#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "tests/support/gloo.h"
#include "tests/support/matchers.h"
#include "tests/support/running_program.h"
#include "tests/support/small_model.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class EvalModeTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Flags(const std::string& more) const {
    return "--mode eval --data_dir " + model_.data_dir() + " " + more;
  }
  // A program that waits for the checkpoints of a model.
  [[nodiscard]] std::unique_ptr<RunningProgram> Follow(
      const std::string& model) const {
    return std::make_unique<RunningProgram>(
        "train_resnet", ShellWords("--device cpu --model_dir " + model + " " +
                                   Flags("--eval_timeout 600")));
  }
  [[nodiscard]] json File(std::int64_t step) const {
    return json::parse(ReadWholeFile(EvalPath(model_.folder(), step), 1 << 20));
  }
  // Takes the file of an evaluation that is not the training's own.
  [[nodiscard]] json TakeOther() const {
    for (const std::string& name : NamesInFolder(EvalFolder(model_.folder()))) {
      if (name.starts_with("00000002-")) {
        const std::string path = PathIn(EvalFolder(model_.folder()), name);
        json file = json::parse(ReadWholeFile(path, 1 << 20));
        fs::remove(path);
        return file;
      }
    }
    ADD_FAILURE() << "there is no other evaluation";
    return {};
  }

  SmallModel model_;
};

TEST_F(EvalModeTest, LeavesTheFileOfEachEvaluation) {
  const json trained = File(2);  // of train_and_eval
  EXPECT_EQ(trained["images"], 10);
  EXPECT_EQ(trained["classes"][1]["label"], "bee");
  EXPECT_EQ(trained["classes"][1]["images"], 3);
  fs::remove(EvalPath(model_.folder(), 2));
  EXPECT_THAT(model_.Run(Flags("")), Ends(0));
  const json file = File(2);
  EXPECT_EQ(file["confusion"], trained["confusion"]);
  EXPECT_EQ(file["loss"], trained["loss"]);
  EXPECT_EQ(file["auc"], trained["auc"]);
}

TEST_F(EvalModeTest, SharesCropsAmongRanks) {
  if (!kHasGloo) {
    GTEST_SKIP() << kNoGloo;
  }
  const std::string flags = "--eval_crops 5 --eval_batch_size ";
  ASSERT_EQ(model_.Run(Flags(flags + "10")).exit_code, 0);
  const json alone = TakeOther();
  for (const std::string batch : {"3", "12"}) {
    EXPECT_THAT(model_.Run(Flags(flags + batch + " --local_ranks 2")), Ends(0));
    const json file = TakeOther();
    EXPECT_EQ(file["images"], 10);
    EXPECT_EQ(file["confusion"], alone["confusion"]);
    EXPECT_NEAR(file["loss"].get<double>(), alone["loss"].get<double>(), 1e-5);
  }
}

TEST(EvalLiveWeightsTest, EvaluatesTheWeightsBesideTheirAverage) {
  const TemporaryFolder model;
  const std::string run = "--device cpu --data_dir null --model_dir " +
                          model.path() + " --params_override ";
  ASSERT_THAT(
      RunTrainResnet(
          run +
          "model=lenet,image_size=28,num_label_classes=3,train_batch_size=4,"
          "train_steps=3,eval_batch_size=4,moving_average_decay=0.9,"
          "eval_live_weights=true,keep_best=loss"),
      Ends(0, HasSubstr("; the weights themselves: top-1 ")));
  const auto file = [&] {
    return json::parse(ReadWholeFile(EvalPath(model.path(), 3), 1 << 20));
  };
  const json both = file();
  EXPECT_NE(both["live"]["loss"], both["loss"]);
  const json best = json::parse(ReadWholeFile(BestPath(model.path()), 1 << 20));
  EXPECT_EQ(best["value"], both["loss"]);
  std::vector<json> evals =
      JsonLines(ReadWholeFile(MetricsPath(model.path()), 1 << 20));
  std::erase_if(evals,
                [](const json& line) { return line["event"] != "eval"; });
  ASSERT_EQ(evals.size(), 1);
  EXPECT_EQ(evals[0]["live_loss"], both["live"]["loss"]);
  EXPECT_EQ(evals[0]["live_top_1"], both["live"]["top_1"]);
  ASSERT_THAT(RunTrainResnet("--mode eval " + run + "eval_live_weights=false"),
              Ends(0));
  EXPECT_EQ(file()["loss"], both["loss"]);
  EXPECT_FALSE(file().contains("live"));
}

TEST_F(EvalModeTest, FollowsUpToTheLastStep) {
  const std::string last = CheckpointFolder(model_.folder(), 2);
  const std::string aside = model_.folder() + "/aside";
  fs::rename(last, aside);
  fs::remove(EvalPath(model_.folder(), 2));
  const auto program = Follow(model_.folder());
  ASSERT_TRUE(program->ReadUntil("waiting up to 600 s")) << program->err();
  EXPECT_EQ(File(1)["step"], 1);
  fs::rename(aside, last);
  EXPECT_EQ(program->Wait(), 0) << program->err();
  EXPECT_EQ(File(2)["step"], 2);
}

TEST_F(EvalModeTest, WaitsForATrainingThatBeginsLater) {
  const TemporaryFolder later;
  const auto program = Follow(later.path());
  ASSERT_TRUE(program->ReadUntil("/params.yaml, which the training run writes"))
      << program->err();
  ASSERT_THAT(
      RunTrainResnet("--mode train --device cpu --data_dir " +
                     model_.data_dir() + " --model_dir " + later.path() +
                     " --params_override " + SmallModel::kParameters),
      Ends(0));
  EXPECT_EQ(program->Wait(), 0) << program->err();
  const json file =
      json::parse(ReadWholeFile(EvalPath(later.path(), 2), 1 << 20));
  EXPECT_EQ(file["classes"][1]["label"], "bee");
}

TEST_F(EvalModeTest, EndsWhenNoTrainingBegins) {
  const TemporaryFolder none;
  const auto run = [&](const std::string& seconds) {
    return RunTrainResnet("--device cpu --model_dir " + none.path() + " " +
                          Flags("--eval_timeout " + seconds));
  };
  EXPECT_THAT(run("0"),
              Ends(2, HasSubstr("no params.yaml appeared within 0 s")));
  const auto program = Follow(none.path());
  ASSERT_TRUE(program->ReadUntil("waiting up to 600 s")) << program->err();
  program->Signal(SIGTERM);
  EXPECT_EQ(program->Wait(), 75);
}

TEST_F(EvalModeTest, PassesOverWhatCannotBeRead) {
  fs::remove(CheckpointFolder(model_.folder(), 2) + "/model.safetensors");
  const ProgramResult run = model_.Run(Flags("--eval_timeout 0"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("the checkpoint at step 2 is left out"));
  EXPECT_THAT(run.err, HasSubstr("no checkpoint to evaluate"));
}

TEST_F(EvalModeTest, RefusesWeightsWithoutItsClassifier) {
  const TemporaryFolder none;
  for (const std::string& mode :
       {std::string("eval"), "export --export_dir " + none / "export",
        "predict --input " + model_.data_dir()}) {
    EXPECT_THAT(
        RunTrainResnet(
            "--device cpu --model_dir " + none.path() + " --mode " + mode +
            " --data_dir " + model_.data_dir() + " --resnet_checkpoint " +
            model_.folder() +
            " --params_override model=lenet,image_size=28,num_label_classes=5"),
        Ends(2, HasSubstr("the classifier fc3 is [4, 84] in the file "
                          "and [5, 84] in the model")))
        << mode;
  }
}

TEST_F(EvalModeTest, RefusesWeightsThatItWouldNotUse) {
  const std::string given = " --resnet_checkpoint " + model_.folder();
  const std::string not_used =
      "resnet_checkpoint=" + model_.folder() + ": not used, as ";
  const TemporaryFolder none;
  for (const std::string& mode :
       {std::string("eval"), "export --export_dir " + none / "export",
        "predict --input " + model_.data_dir()}) {
    const std::string flags =
        "--mode " + mode + " --data_dir " + model_.data_dir();
    EXPECT_THAT(model_.Run(flags + given),
                Ends(2, HasSubstr(not_used + "model_dir=" + model_.folder() +
                                  " has a checkpoint of step 2; give another "
                                  "model_dir, or leave resnet_checkpoint out")))
        << mode;
    EXPECT_THAT(RunTrainResnet(
                    "--device cpu --model_dir " + none.path() + " " + flags +
                    " --resume " + model_.folder() +
                    " --params_override resnet_checkpoint=" + model_.folder()),
                Ends(2, HasSubstr(not_used + "--resume gives a checkpoint")))
        << mode;
  }
  EXPECT_THAT(model_.Run(Flags("--eval_timeout 0" + given)),
              Ends(2, HasSubstr(not_used + "--eval_timeout evaluates")));
}

TEST_F(EvalModeTest, TakesTheCheckpointOfAnotherOptimizer) {
  const TemporaryFolder other;
  ASSERT_THAT(RunTrainResnet("--device cpu --mode train --model_dir " +
                             other.path() + " --data_dir " + model_.data_dir() +
                             " --params_override " + SmallModel::kParameters +
                             ",train_steps=1,optimizer=adamw"),
              Ends(0));
  const TemporaryFolder exports;
  for (const std::string& mode :
       {std::string("eval"), "export --export_dir " + exports / "export",
        "predict --input " + model_.data_dir()}) {
    EXPECT_THAT(model_.Run("--mode " + mode + " --data_dir " +
                           model_.data_dir() + " --resume " + other.path()),
                Ends(0, HasSubstr("using the checkpoint at step 1\n")))
        << mode;
  }
}

// All that would take space there fails.
TEST_F(EvalModeTest, PrintsTheResultOfAReadOnlyModel) {
  const auto eval = [&](int error) {
    return RunProgram(
        "train_resnet",
        "--device cpu --model_dir " + model_.folder() + " " + Flags(""),
        fmt::format("FAULT_UNDER={} FAULT_AT=1 FAULT_ERRNO={} "
                    "LD_PRELOAD=" INFEED_FILE_FAULTS,
                    model_.folder(), error));
  };
  const ProgramResult kept = Succeeded(model_.Run(Flags("")));
  fs::remove_all(EvalFolder(model_.folder()));
  for (const int error : {EROFS, EACCES}) {
    const ProgramResult run = Succeeded(eval(error));
    EXPECT_EQ(run.out.substr(0, run.out.find('(')),
              kept.out.substr(0, kept.out.find('(')));
    EXPECT_THAT(run.err, HasSubstr("model_dir=" + model_.folder() +
                                   ": it is read-only; results are printed, "
                                   "but not kept\n"));
    EXPECT_FALSE(fs::exists(EvalFolder(model_.folder())));
  }
  EXPECT_THAT(eval(ENOSPC), Ends(1, HasSubstr("No space left on device")));
}

// params.yaml has the weights from which the training started.
TEST_F(EvalModeTest, TakesTheCheckpointOfATrainingFromWeights) {
  const TemporaryFolder tuned;
  const std::string run = "--device cpu --model_dir " + tuned.path() +
                          " --data_dir " + model_.data_dir() + " --mode ";
  ASSERT_THAT(RunTrainResnet(run + "train --resnet_checkpoint " +
                             model_.folder() + " --params_override " +
                             SmallModel::kParameters + ",train_steps=1"),
              Ends(0));
  EXPECT_THAT(RunTrainResnet(run + "eval"),
              Ends(0, HasSubstr("using the checkpoint at step 1\n")));
}

TEST_F(EvalModeTest, TakesThePolicyForBadRecordsThatIsGiven) {
  const TemporaryFolder data;
  std::vector<std::string> payloads = PayloadsOfFourClasses(8);
  payloads[2] = payloads[5] = PayloadWithImage("not a photograph", 2);
  WriteShard(data, "validation", payloads);
  const auto run = [&](const std::string& flags) {
    return model_.Run("--mode eval --data_dir " + data.path() + flags);
  };
  for (const std::string& flags :
       {std::string(""), std::string(" --max_bad_records 2")}) {
    EXPECT_THAT(Succeeded(run(flags)).out,
                HasSubstr("; 2 bad records left out"));
  }
  EXPECT_THAT(run(" --on_bad_record fail"), Ends(3, HasSubstr(": record 2 ")));
  EXPECT_THAT(run(" --max_bad_records 1"),
              Ends(3, HasSubstr("it is bad record number 2, and "
                                "max_bad_records is 1")));
  EXPECT_THAT(run(" --on_bad_record replace"),
              Ends(2, HasSubstr("on_bad_record=replace: an evaluation")));
  if (kHasGloo) {  // Each rank has one of them.
    EXPECT_THAT(run(" --max_bad_records 1 --local_ranks 2"),
                Ends(3, HasSubstr("2 bad records to evaluate, of all ranks, "
                                  "and max_bad_records is 1")));
  }
}

// The policy in params.yaml is that of the training.
TEST_F(EvalModeTest, LeavesThePolicyOfTheTrainingToIt) {
  const std::string path = ParamsPath(model_.folder());
  std::string params = ReadWholeFile(path, 1 << 20);
  const std::string before = "on_bad_record: auto";
  ASSERT_THAT(params, HasSubstr(before));
  params.replace(params.find(before), before.size(), "on_bad_record: fail");
  WriteFileAtomically(path, params);
  std::vector<std::string> payloads = PayloadsOfFourClasses(4);
  payloads[2] = PayloadWithImage("not a photograph", 2);
  const TemporaryFolder data;
  WriteShard(data, "validation", payloads);
  EXPECT_THAT(
      Succeeded(model_.Run("--mode eval --data_dir " + data.path())).out,
      HasSubstr("; 1 bad record left out"));
}

TEST_F(EvalModeTest, EndsWhenNoNewerOneComes) {
  EXPECT_THAT(model_.Run(Flags("--train_steps 5 --eval_timeout 0")),
              Ends(0, HasSubstr("no newer checkpoint than step 2 for 0 s")));
}

}  // namespace
}  // namespace infeed
