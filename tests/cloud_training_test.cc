// Trainings whose folders are in an object store, against one that misbehaves:
// they end as those on a disk do, to the same bytes.

#include "tests/support/cloud_training.h"

#include <signal.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/running_program.h"

namespace infeed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CloudTrainingTest : public CloudTraining {
 protected:
  // What the same training leaves on a disk.
  [[nodiscard]] std::string LocalBytes() {
    const ProgramResult run = Train(local_ / "");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return LastBytesOf(local_ / "model");
  }

  // Trains until a checkpoint of this step is in the store, and kills it.
  void KillAfter(const std::string& root, std::int64_t step) {
    RunningProgram program("train_resnet", Flags(root));
    AwaitStep(Bucket(root), step);
    program.Signal(SIGKILL);
    EXPECT_EQ(program.Wait(), 128 + SIGKILL) << program.err();
  }

  // Killed twice, with the third part on another machine or on the same one.
  void KillTwiceAndCompare(const std::string& root, bool elsewhere) {
    KillAfter(root, 4);
    KillAfter(root, 9);
    if (elsewhere) {
      scratch_ = machine_ / "another";
    }
    const ProgramResult run = Train(root);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("going on from the checkpoint at step"));
    EXPECT_EQ(LastBytesIn(Bucket(root)), LocalBytes());
    EXPECT_THAT(StepsIn(Bucket(root)),
                ElementsAre(kSteps - 2, kSteps - 1, kSteps));
  }
};

TEST_F(CloudTrainingTest, GoesOnAfterKillsOnTheSameMachine) {
  KillTwiceAndCompare("gs://gs-shards/", false);
}

TEST_F(CloudTrainingTest, GoesOnAfterKillsOnAnotherMachine) {
  KillTwiceAndCompare("s3://shards/", true);
}

}  // namespace
}  // namespace infeed
