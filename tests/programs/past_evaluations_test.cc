// What trainings decide from their evaluations, also after they were killed.

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/gloo.h"
#include "tests/support/small_model.h"
#include "trainer/checkpoint/eval_history.h"
#include "trainer/model_dir/model_dir.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kMaxBytes = 1 << 24;

class PastEvaluationsTest : public testing::Test {
 protected:
  // With so small a rate, no evaluation is better than the first.
  [[nodiscard]] ProgramResult Train(const std::string& folder,
                                    const std::string& more = "") const {
    return RunProgram("train_resnet",
                      "--device cpu --data_dir " + model_.data_dir() +
                          " --model_dir " + folder + " --params_override " +
                          SmallModel::kParameters +
                          ",train_steps=30,steps_per_eval=2,keep_last=100,"
                          "base_learning_rate=1e-4,early_stop='top_1:4',"
                          "learning_rate_schedule=plateau,plateau_metric=top_1,"
                          "plateau_patience=1,learning_rate_decay=0.5" +
                          more);
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
  const ProgramResult run = Train(straight_);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.substr(run.out.rfind("step ")).substr(0, 8), "step 10 ")
      << run.out;
  EXPECT_THAT(run.err, HasSubstr("early_stop=top_1:4: no better top_1 in the "
                                 "last 4 evaluations\n"));
  // 1e-4 * 8 / 256, then a half after the second that is no better.
  EXPECT_THAT(run.err, HasSubstr("learning rate 1.56e-06 after evaluations "
                                 "without a better top_1\n"));
  EXPECT_THAT(ReadEvalHistory(straight_).Values("top_1"), SizeIs(5));
  const ProgramResult again = Train(straight_);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, "step 10\n");
  EXPECT_THAT(again.err, HasSubstr("nothing to do: early_stop=top_1:4: "));
}

TEST_F(PastEvaluationsTest, AreThoseOfAnUninterruptedRunWhereverItWasKilled) {
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
      const ProgramResult run = Train(folder);
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(ReadEvalHistory(folder), all) << step << ", " << known;
      ASSERT_EQ(Weights(folder, 10), Weights(straight_, 10))
          << step << ", " << known;
      EXPECT_FALSE(fs::exists(CheckpointFolder(folder, 11)));
    }
  }
}

TEST_F(PastEvaluationsTest, DecideTheSameOnEveryRank) {
  if (!kHasGloo) {
    GTEST_SKIP() << kNoGloo;
  }
  const ProgramResult run = Train(straight_, " --local_ranks 2");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(ReadEvalHistory(straight_).Values("top_1"), SizeIs(5));
  EXPECT_TRUE(fs::exists(CheckpointFolder(straight_, 10)));
  EXPECT_FALSE(fs::exists(CheckpointFolder(straight_, 11)));
}

TEST_F(PastEvaluationsTest, AreNeeded) {
  for (const std::string parameter :
       {"early_stop='loss:3'", "learning_rate_schedule=plateau"}) {
    const ProgramResult run =
        RunProgram("train_resnet",
                   "--device cpu --mode train --data_dir " + model_.data_dir() +
                       " --model_dir " + straight_ + " --params_override " +
                       SmallModel::kParameters + "," + parameter);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(": needs mode=train_and_eval, and shards to "
                                   "evaluate\n"));
  }
  const ProgramResult bad = Train(straight_, ",early_stop='top_1'");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("early_stop='top_1': must be a metric and"));
}

}  // namespace
}  // namespace infeed
