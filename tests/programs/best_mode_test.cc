// The best checkpoint, as the modes of train_resnet take it.

#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/small_model.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"

namespace infeed {
namespace {

// Step 1 is the best, by an evaluation that no other one reaches; step 2 is the
// newest.
class BestModeTest : public testing::Test {
 protected:
  BestModeTest() {
    BestCheckpoint best(model_.folder(), "top_1");
    EXPECT_TRUE(best.Note(1, 2));
  }

  [[nodiscard]] ProgramResult Run(const std::string& mode,
                                  const std::string& more) const {
    return model_.Run("--mode " + mode + " --data_dir " + model_.data_dir() +
                      (mode == "eval" || mode == "predict"
                           ? ""
                           : " --export_dir " + exports_) +
                      " " + more);
  }

  SmallModel model_;
  TemporaryFolder parent_;
  std::string exports_ = parent_ / "exports";
};

TEST_F(BestModeTest, EachModeTakesTheBestCheckpoint) {
  EXPECT_THAT(Succeeded(Run("eval", "--checkpoint best")).out,
              HasSubstr("evaluation at step 1:"));
  EXPECT_THAT(Succeeded(Run("export", "--checkpoint best")).out,
              HasSubstr("exported the model of step 1 to"));
  for (const std::string which : {"best", "1"}) {
    EXPECT_THAT(Run("predict", "--checkpoint " + which),
                Ends(0, HasSubstr("using the checkpoint at step 1\n")));
  }
  const ProgramResult run =
      Succeeded(Run("train", std::string("--resume best --force "
                                         "--params_override ") +
                                 SmallModel::kParameters));
  EXPECT_THAT(run.err, HasSubstr("resuming from the checkpoint at step 1\n"));
  EXPECT_EQ(run.out.substr(0, 7), "step 2\n");
}

TEST_F(BestModeTest, UsingTheNewestNamesTheBest) {
  for (const std::string which : {"", "--checkpoint newest"}) {
    const ProgramResult run = Succeeded(Run("export", which));
    EXPECT_THAT(run.out, HasSubstr("exported the model of step 2 to"));
    EXPECT_THAT(run.err, HasSubstr("using the checkpoint at step 2; the best "
                                   "one is of step 1: --checkpoint best"));
  }
}

TEST_F(BestModeTest, TrainingExportsTheBest) {
  const auto train_to = [&](const std::string& step) {
    return Run("train_and_eval",
               std::string("--keep_best top_1 --params_override ") +
                   SmallModel::kParameters + ",train_steps=" + step);
  };
  ASSERT_EQ(train_to("3").exit_code, 0);
  // The file names the evaluations' subject.
  const auto file = nlohmann::json::parse(
      ReadWholeFile(model_.folder() + "/best.json", 1000));
  BestCheckpoint best(model_.folder(), "top_1", file.at("validation"));
  EXPECT_TRUE(best.Note(1, 2));
  const ProgramResult run = Succeeded(train_to("4"));
  EXPECT_THAT(
      run.err,
      HasSubstr("exporting the checkpoint with the best top_1: step 1"));
  EXPECT_THAT(run.out, HasSubstr("exported the model of step 1 to"));
}

TEST_F(BestModeTest, ARunWithoutKeepBestKeepsIt) {
  for (const std::string steps : {"3,keep_last=1", "4,keep_last=1"}) {
    (void)Succeeded(Run("train", std::string("--params_override ") +
                                     SmallModel::kParameters +
                                     ",train_steps=" + steps));
  }
  EXPECT_THAT(ListCheckpoints(model_.folder()), ElementsAre(1, 4));
  EXPECT_THAT(Run("predict", "--checkpoint best"),
              Ends(0, HasSubstr("using the checkpoint at step 1\n")));
}

// The best of the course that goes on, not of the one that was left.
TEST_F(BestModeTest, ARunThatGoesBackFindsTheBestAnew) {
  const auto train = [&](const std::string& flags, const std::string& steps) {
    return Run(
        "train_and_eval",
        "--keep_best top_1 " + flags + " --params_override " +
            SmallModel::kParameters +
            ",steps_per_eval=1,steps_per_checkpoint=1,train_steps=" + steps);
  };
  ASSERT_EQ(train("", "5").exit_code, 0);
  const std::string path = model_.folder() + "/best.json";
  auto record = nlohmann::json::parse(ReadWholeFile(path, 1000));
  record["step"] = 5;  // Of the course that is left, and never reached again.
  record["value"] = 2;
  WriteFileAtomically(path, record.dump());
  EXPECT_THAT(train("--resume 3", "4"),
              Ends(2, HasSubstr("later steps, 4, 5, would stay the newest")));
  const ProgramResult run = Succeeded(train("--resume 3 --force", "4"));
  EXPECT_THAT(ListCheckpoints(model_.folder()), ElementsAre(1, 2, 3, 4));
  const auto found = nlohmann::json::parse(ReadWholeFile(path, 1000));
  EXPECT_LE(found["step"], 4);
  EXPECT_LE(found["value"], 1);
  EXPECT_THAT(run.out, HasSubstr("exported the model of step " +
                                 std::to_string(found["step"].get<int>())));
}

TEST_F(BestModeTest, WithoutAnEvaluationTheLastStepIsExported) {
  const ProgramResult run =
      Succeeded(Run("train", std::string("--keep_best auc --params_override ") +
                                 SmallModel::kParameters + ",train_steps=3"));
  EXPECT_THAT(
      run.err,
      HasSubstr("no evaluation gave a best auc: exporting the last step, 3"));
  EXPECT_THAT(run.out, HasSubstr("exported the model of step 3 to"));
}

TEST_F(BestModeTest, ItsMetricIsOnTheLine) {
  EXPECT_THAT(Run("eval", "--keep_best auc").out,
              testing::ContainsRegex("  loss [0-9.]+  auc 0\\.[0-9]+  \\("));
  EXPECT_THAT(Run("eval", "--keep_best auc_at_half").out,
              HasSubstr("  no auc_at_half  ("));
  EXPECT_THAT(Run("eval", "--keep_best loss").out, Not(HasSubstr("auc")));
}

}  // namespace
}  // namespace infeed
