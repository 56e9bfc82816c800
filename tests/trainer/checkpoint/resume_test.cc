#include "trainer/checkpoint/resume.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() {
    for (const std::int64_t step : {10, 20}) {
      SaveCheckpoint(dir_, MadeCheckpoint(step));
    }
  }

  void Damage(std::int64_t step) const {
    std::ofstream(PathIn(CheckpointFolder(dir_, step), kModelFile),
                  std::ios::app)
        << "x";
  }
  // The step it goes on from; -1 for none.
  std::int64_t Step(const std::string& model_dir, const std::string& resume,
                    bool trains = true) {
    damaged_.clear();
    const auto found = FindResume(model_dir, resume, trains, damaged_);
    return found ? found->step : -1;
  }
  std::string ErrorOf(const std::string& model_dir, const std::string& resume) {
    return MessageOf<UsageError>([&] { (void)Step(model_dir, resume); });
  }

  TemporaryFolder folder_;
  const std::string& dir_ = folder_.path();
  TemporaryFolder fresh_;
  const std::string& new_ = fresh_.path();
  std::vector<std::string> damaged_;
};

TEST_F(ResumeTest, FrozenStagesAreThoseBeforeTheFirstState) {
  const ModelOptions model = {.depth = 18, .num_classes = 3};
  Checkpoint checkpoint = MadeCheckpoint(10);
  EXPECT_EQ(FrozenStagesOf(checkpoint, model), 5);
  TensorMap& state = checkpoint.state.optimizer;
  state = {{"layer2.0.conv1.weight/m", {}},
           {"layer2.0.conv1.weight/v", {}},
           {"conv1.weight/average", {}},
           {"fc.bias/m", {}}};
  EXPECT_EQ(FrozenStagesOf(checkpoint, model), 2);
  state = {{"bn1.weight", {}}};
  EXPECT_EQ(FrozenStagesOf(checkpoint, model), 0);
  state = {{"step", {}}};
  EXPECT_EQ(FrozenStagesOf(checkpoint, model), std::nullopt);
}

TEST_F(ResumeTest, AutoIsTheNewestWholeOne) {
  EXPECT_EQ(Step(dir_, "auto"), 20);
  EXPECT_EQ(Step(new_, "auto"), -1);
  Damage(20);
  EXPECT_EQ(Step(dir_, "auto"), 10);
  EXPECT_THAT(damaged_, ElementsAre(HasSubstr("checkpoint-00000020")));
}

TEST_F(ResumeTest, NeverBeginsAnewWhereNothingIsLost) {
  EXPECT_EQ(Step(new_, "never"), -1);
  EXPECT_THAT(ErrorOf(dir_, "never"),
              HasSubstr("has checkpoints, the newest of step 20"));
}

TEST_F(ResumeTest, TakesTheStepThatIsAskedFor) {
  EXPECT_EQ(Step(dir_, "10"), 10);
  EXPECT_EQ(ErrorOf(dir_, "15"),
            "model_dir=" + dir_ + ": no checkpoint of step 15; it has 10, 20");
  EXPECT_THAT(ErrorOf(new_, "15"), HasSubstr("it has none"));
}

TEST_F(ResumeTest, TakesTheBestOne) {
  EXPECT_THAT(ErrorOf(dir_, "best"), AllOf(HasSubstr("it has no best.json"),
                                           HasSubstr("or a damaged one")));
  BestCheckpoint best(dir_, "loss");
  ASSERT_TRUE(best.Note(10, 1));
  EXPECT_EQ(Step(dir_, "best"), 10);
  EXPECT_EQ(Step(dir_, "best", /*trains=*/false), 10);
  fs::remove_all(CheckpointFolder(dir_, 10));
  EXPECT_THAT(ErrorOf(dir_, "best"), HasSubstr("no checkpoint of step 10"));
}

TEST_F(ResumeTest, FallsBackFromNothingThatIsAskedFor) {
  Damage(20);
  EXPECT_EQ(Step(dir_, "20"), -1);
  EXPECT_THAT(damaged_, SizeIs(1));
  EXPECT_EQ(Step(new_, CheckpointFolder(dir_, 20)), -1);
  EXPECT_THAT(damaged_, SizeIs(1));
}

TEST_F(ResumeTest, TakesAPathWhileTheModelFolderIsEmpty) {
  EXPECT_EQ(Step(new_, dir_), 20);
  EXPECT_EQ(Step(new_, CheckpointFolder(dir_, 10)), 10);
  SaveCheckpoint(new_, MadeCheckpoint(11));
  EXPECT_EQ(Step(new_, CheckpointFolder(dir_, 10)), 11);
  EXPECT_EQ(Step(new_, CheckpointFolder(dir_, 10), /*trains=*/false), 10);
  EXPECT_THAT(damaged_, IsEmpty());
}

TEST_F(ResumeTest, GoingBackWouldLeaveLaterCheckpointsAsTheNewest) {
  EXPECT_NO_THROW(RequireNewest(dir_, 20));
  EXPECT_THAT(MessageOf<UsageError>([&] { RequireNewest(dir_, 10); }),
              AllOf(HasSubstr("checkpoints of later steps, 20, would stay"),
                    HasSubstr("--resume " + CheckpointFolder(dir_, 10)),
                    HasSubstr("--force")));
  EXPECT_TRUE(MayGoBack("10"));
  EXPECT_TRUE(MayGoBack("best"));
  for (const char* resume : {"auto", "never", "a/folder"}) {
    EXPECT_FALSE(MayGoBack(resume)) << resume;
  }
}

TEST_F(ResumeTest, SaysWhatItMayBe) {
  EXPECT_THAT(ErrorOf(new_, "nowhere"),
              HasSubstr("resume=nowhere: no checkpoint there; give auto, "
                        "best, never, a step, or the path"));
  EXPECT_THAT(ErrorOf(new_, "-3"), HasSubstr("resume=-3"));
}

}  // namespace
}  // namespace infeed
