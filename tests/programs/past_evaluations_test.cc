// Decisions of trainings that depend on evaluations, also after kills.

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "tests/support/gloo.h"
#include "tests/support/matchers.h"
#include "tests/support/small_model.h"
#include "trainer/checkpoint/eval_history.h"
#include "trainer/log/run_history.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBytes = 1 << 24;

class PastEvaluationsTest : public testing::Test {
 protected:
  // With so small a rate, no evaluation is better than the first.
  [[nodiscard]] std::string Arguments(const std::string& folder,
                                      const std::string& more) const {
    return "--device cpu --data_dir " + model_.data_dir() + " --model_dir " +
           folder + " --params_override " + SmallModel::kParameters +
           ",train_steps=30,steps_per_eval=2,keep_last=100,"
           "base_learning_rate=1e-4,early_stop='top_1:4',"
           "learning_rate_schedule=plateau,plateau='top_1:1',"
           "learning_rate_decay=0.5" +
           more;
  }
  [[nodiscard]] ProgramResult Train(const std::string& folder,
                                    const std::string& more = "") const {
    return RunTrainResnet(Arguments(folder, more));
  }

  [[nodiscard]] static std::string Weights(const std::string& folder,
                                           std::int64_t step) {
    return ReadWholeFile(PathIn(CheckpointFolder(folder, step), kModelFile),
                         kMaxBytes);
  }

  SmallModel model_;
  TemporaryFolder models_;
  std::string straight_ = models_ / "straight";
};

TEST_F(PastEvaluationsTest, LowerTheRateAndEndTheTraining) {
  const ProgramResult run = Succeeded(Train(straight_));
  EXPECT_EQ(run.out.substr(run.out.rfind("step ")).substr(0, 8), "step 10 ")
      << run.out;
  EXPECT_THAT(run.err, HasSubstr("early_stop=top_1:4: no better top_1 in the "
                                 "last 4 evaluations\n"));
  // 1e-4 * 8 / 256, then a half after the second that is no better.
  EXPECT_THAT(run.err, HasSubstr("learning rate 1.56e-06 after evaluations "
                                 "without a better top_1\n"));
  EXPECT_THAT(ReadEvalHistory(straight_).Values("top_1"), SizeIs(5));
  const ProgramResult again = Succeeded(Train(straight_));
  EXPECT_EQ(again.out, "step 10\n");
  EXPECT_THAT(again.err, HasSubstr("nothing to do: early_stop=top_1:4: "));
}

TEST_F(PastEvaluationsTest, KillsAnywhereKeepTheEvaluations) {
  ASSERT_EQ(Train(straight_).exit_code, 0);
  const EvalHistory all = ReadEvalHistory(straight_);
  for (const std::int64_t step : {1, 4, 7, 8, 10}) {
    // The file may have evaluations after the checkpoint, which is written in
    // the background, or lack the checkpoint's own.
    for (const std::int64_t known : {std::int64_t{30}, step - 1}) {
      const std::string folder =
          models_ / (std::to_string(step) + "-" + std::to_string(known));
      fs::copy(straight_, folder, fs::copy_options::recursive);
      for (std::int64_t later = step + 1; later <= 10; ++later) {
        fs::remove_all(CheckpointFolder(folder, later));
      }
      EvalHistory history = all;
      history.DropAfter(known);
      WriteEvalHistory(history, folder);
      ASSERT_THAT(Train(folder), Ends(0));
      EXPECT_EQ(ReadEvalHistory(folder), all) << step << ", " << known;
      ASSERT_EQ(Weights(folder, 10), Weights(straight_, 10))
          << step << ", " << known;
      EXPECT_FALSE(fs::exists(CheckpointFolder(folder, 11)));
    }
  }
}

// Kills before a call that changes a file of the model, also between a
// checkpoint and the files of its evaluation.
TEST_F(PastEvaluationsTest, AKillKeepsTheEvaluations) {
  const std::string more = ",keep_best=loss,early_stop='\"\"'";
  const std::string steps = ",train_steps=6";
  ASSERT_EQ(Train(straight_, more + steps).exit_code, 0);
  const auto files = [&](const std::string& folder) {
    RunHistory history(folder);
    history.Update();
    std::string text = ReadWholeFile(BestPath(folder), 1 << 20) +
                       ReadWholeFile(EvaluationsPath(folder), 1 << 20);
    for (const HistoryEvaluation& evaluation : history.evaluations()) {
      text += fmt::format("{} {} {}\n", evaluation.step, evaluation.loss,
                          evaluation.top_1);
      EXPECT_TRUE(fs::exists(EvalPath(folder, evaluation.step)));
    }
    return text;
  };
  bool was_killed = true;
  int kills = 0;
  for (int call = 3; was_killed; call += 17) {
    const std::string folder = models_ / ("kill-" + std::to_string(call));
    const std::string fault = "FAULT_UNDER=" + folder +
                              " FAULT_ERRNO=0 LD_PRELOAD=" INFEED_FILE_FAULTS
                              " FAULT_AT=" +
                              std::to_string(call);
    was_killed = RunProgram("train_resnet", Arguments(folder, more + steps),
                            fault + " sh -c '\"$0\" \"$@\"; exit $?'")
                     .exit_code != 0;
    kills += was_killed ? 1 : 0;
    ASSERT_EQ(Train(folder, more + steps).exit_code, 0);
    EXPECT_EQ(files(folder), files(straight_)) << call;
    EXPECT_EQ(Weights(folder, 6), Weights(straight_, 6)) << call;
  }
  EXPECT_GT(kills, 3);
}

TEST_F(PastEvaluationsTest, MissingEvaluationsAreRepeated) {
  const std::string more = ",keep_best=loss,early_stop='\"\"',train_steps=";
  ASSERT_EQ(Train(straight_, more + "4").exit_code, 0);
  for (const std::string& path :
       {EvalPath(straight_, 4), EvaluationsPath(straight_)}) {
    fs::remove(path);
    fs::remove(BestPath(straight_));
    EXPECT_THAT(Succeeded(Train(straight_, more + "4")).out,
                HasSubstr("step 4  top-1"));
    EXPECT_TRUE(fs::exists(path));
    EXPECT_TRUE(fs::exists(EvalPath(straight_, 4)));
  }
  EXPECT_THAT(Train(straight_, more + "4").err, HasSubstr("nothing to do"));
}

// With one class, every prediction is right.
TEST_F(PastEvaluationsTest, AReachedGoalEndsTheRun) {
  const TemporaryFolder data;
  for (const char* const split : {"train", "validation"}) {
    WriteShard(data, split, std::vector<std::string>(8, TestPayload(0)));
  }
  const std::string flags =
      "--device cpu --data_dir " + data.path() + " --model_dir " + straight_ +
      " --params_override " + SmallModel::kParameters +
      ",train_steps=30,steps_per_eval=2,stop_at_top_1=0.5";
  const ProgramResult run = Succeeded(RunTrainResnet(flags));
  EXPECT_EQ(run.out, "step 2  top-1 1.0000\n");
  EXPECT_THAT(run.err, HasSubstr("ended at step 2 of 30: top-1 1.0000 has "
                                 "reached stop_at_top_1=0.5\n"));
  const ProgramResult again = Succeeded(RunTrainResnet(flags));
  EXPECT_EQ(again.out, "step 2\n");
  EXPECT_THAT(again.err, HasSubstr("nothing to do: ended at step 2 of 30"));
}

TEST_F(PastEvaluationsTest, DecideTheSameOnEveryRank) {
  if (!kHasGloo) {
    GTEST_SKIP() << kNoGloo;
  }
  ASSERT_THAT(Train(straight_, " --local_ranks 2"), Ends(0));
  EXPECT_THAT(ReadEvalHistory(straight_).Values("top_1"), SizeIs(5));
  EXPECT_TRUE(fs::exists(CheckpointFolder(straight_, 10)));
  EXPECT_FALSE(fs::exists(CheckpointFolder(straight_, 11)));
}

TEST_F(PastEvaluationsTest, WhatNeedsEvaluationsHasNoEffectWithoutThem) {
  const auto train = [&](const std::string& flags) {
    return RunTrainResnet("--device cpu --mode train --dry_run --data_dir " +
                          model_.data_dir() + " --model_dir " + straight_ +
                          " --params_override " + SmallModel::kParameters +
                          flags);
  };
  EXPECT_THAT(train(",keep_best=auc"),
              Ends(0, HasSubstr("\nkeep_best=auc: has no effect: this run "
                                "does not evaluate\n")));
  EXPECT_THAT(
      train(",stop_at_top_1=0.5"),
      Ends(2, HasSubstr("stop_at_top_1=0.5: needs mode=train_and_eval")));
  EXPECT_THAT(Train(straight_, ",early_stop='top_1'"),
              Ends(2, HasSubstr("early_stop='top_1': must be a metric and")));
}

}  // namespace
}  // namespace infeed
