#include "trainer/params/resumed_run.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

namespace infeed::resumed_run_test {
namespace {

class ResumedRunTest : public testing::Test {
 protected:
  ResumedRunTest() {
    options_.mode = Mode::kTrain;
    options_.model_dir = folder_ / "model";
  }
  // A run of one step that started from these weights.
  [[nodiscard]] std::string MakeRun(const std::string& name,
                                    const std::string& weights) const {
    const std::string checkpoint =
        SaveCheckpoint(folder_ / name, MadeCheckpoint(1));
    WriteFileAtomically(ParamsPath(folder_ / name),
                        "# a: comment\nresnet_checkpoint: " + weights + "\n");
    return checkpoint;
  }
  [[nodiscard]] std::string Kept(RunParams params = {}) const {
    const std::unique_ptr<Ranks> ranks = JoinRanks({}, std::chrono::seconds(1));
    KeepStartingWeights(options_, *ranks, params);
    return params.values.resnet_checkpoint;
  }

  TemporaryFolder folder_;
  RunOptions options_;
};

TEST_F(ResumedRunTest, KeepsTheWeightsThatARunStartedFrom) {
  EXPECT_EQ(ResumedFolder(options_), "");
  (void)MakeRun("model", "resnet18");
  EXPECT_EQ(ResumedFolder(options_), options_.model_dir);
  EXPECT_EQ(Kept(), "resnet18");
  RunParams given;
  given.origins["resnet_checkpoint"] = "flag";
  EXPECT_EQ(Kept(given), "");
  options_.resume = "never";
  EXPECT_EQ(Kept(), "");
  options_.resume = "auto";
  options_.mode = Mode::kEval;
  EXPECT_EQ(Kept(), "");
}

TEST_F(ResumedRunTest, TakesTheRunThatResumeNamesUntilThereIsAnOwn) {
  const std::string checkpoint = MakeRun("other", "others");
  for (const std::string& path :
       {folder_ / "other", checkpoint, checkpoint + "/"}) {
    options_.resume = path;
    EXPECT_EQ(ResumedFolder(options_), path);
    EXPECT_EQ(Kept(), "others") << path;
  }
  (void)MakeRun("model", "own");
  EXPECT_EQ(Kept(), "own");
}

TEST_F(ResumedRunTest, NeedNotHaveTheParameter) {
  SaveCheckpoint(options_.model_dir, MadeCheckpoint(1));
  EXPECT_EQ(ParamSoFar(options_, "seed"), std::nullopt);
  (void)MakeRun("model", "own");
  EXPECT_EQ(ParamSoFar(options_, "seed"), std::nullopt);
  EXPECT_EQ(ParamSoFar(options_, "resnet_checkpoint"), "own");
}

}  // namespace
}  // namespace infeed::resumed_run_test
