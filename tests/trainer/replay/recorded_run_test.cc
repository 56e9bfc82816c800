#include "trainer/replay/recorded_run.h"

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/metrics_log.h"
#include "trainer/results/model_dir.h"

namespace infeed::recorded_run_test {

class RecordedRunTest : public testing::Test {
 protected:
  RecordedRunTest() {
    std::ofstream(ParamsPath(dir())) << "train_batch_size: 64\nseed: 5\n";
  }
  [[nodiscard]] const std::string& dir() const { return folder_.path(); }

  void Start(std::int64_t step, const std::string& ranks) const {
    MetricsLog(dir()).Write(
        "start", step, {{"batch_size", std::int64_t{64}}, {"ranks", ranks}});
  }
  void Train(std::int64_t first, std::int64_t last) const {
    MetricsLog log(dir());
    for (std::int64_t step = first; step <= last; ++step) {
      log.Write("train", step, {{"loss", 1.0}});
    }
  }

  TemporaryFolder folder_;
};

TEST_F(RecordedRunTest, HasTheStepsThatCountAndTheStartThatMadeEach) {
  Start(0, "one process");
  Train(1, 30);
  Start(20, "rank 0 of 4 (0 of 4 on this machine), by flags, rank 0 at h:1");
  Train(21, 25);
  const RecordedRun run = ReadRun(dir());
  EXPECT_EQ(run.params.values.input.seed, 5U);
  EXPECT_EQ(run.steps, 25);
  const StepsOfStart first = FindStart(run, 20);
  EXPECT_EQ(first.start.first_step, 0);
  EXPECT_EQ(first.last_step, 20);
  EXPECT_EQ(first.world_size, 1);
  const StepsOfStart second = FindStart(run, 21);
  EXPECT_EQ(second.start.first_step, 20);
  EXPECT_EQ(second.last_step, 25);
  EXPECT_EQ(second.world_size, 4);
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)FindStart(run, 26); }),
              HasSubstr("step=26: the run in " + dir() + " has 25 steps"));
  EXPECT_THROW((void)FindStart(run, 0), UsageError);
}

TEST_F(RecordedRunTest, KnowsPlacesFromTheCheckpointsOfTheSameStart) {
  Start(0, "one process");
  Train(1, 30);
  Start(20, "one process");
  Train(21, 30);
  for (const std::int64_t step : {10, 20}) {
    SaveCheckpoint(dir(), MadeCheckpoint(step));
  }
  const RecordedRun run = ReadRun(dir());
  EXPECT_EQ(FindKnownPlace(run, FindStart(run, 5)).step, 20);
  const KnownPlace known = FindKnownPlace(run, FindStart(run, 25));
  EXPECT_EQ(known.step, 20);
  EXPECT_EQ(known.stream, MadeCheckpoint(20).stream);
}

TEST_F(RecordedRunTest, TakesNoDamagedCheckpointAndNoneOfAbandonedSteps) {
  Start(0, "one process");
  Train(1, 30);
  for (const std::int64_t step : {10, 20, 40}) {
    SaveCheckpoint(dir(), MadeCheckpoint(step));
  }
  std::ofstream(PathIn(CheckpointFolder(dir(), 20), kStateFile)) << "{}";
  const RecordedRun run = ReadRun(dir());
  EXPECT_EQ(CheckpointFor(run, 30)->step, 10);
  EXPECT_EQ(CheckpointFor(run, 10)->step, 10);
}

// A run that --resume 10 took back: the checkpoint of step 15, and its weights,
// are not of the steps that it made then.
TEST_F(RecordedRunTest, TakesNoCheckpointOfACourseThatWasLeft) {
  Start(0, "one process");
  for (const std::int64_t step : {10, 15}) {
    MetricsLog(dir()).Write("loop", step, {});
    SaveCheckpoint(dir(), MadeCheckpoint(step));
  }
  Start(10, "one process");
  MetricsLog(dir()).Write("loop", 20, {});
  SaveCheckpoint(dir(), MadeCheckpoint(20));
  const RecordedRun run = ReadRun(dir());
  EXPECT_EQ(CheckpointFor(run, 18)->step, 10);
  EXPECT_EQ(FindKnownPlace(run, FindStart(run, 18)).step, 20);
  ASSERT_EQ(run.checkpoints.size(), 2U);
}

TEST_F(RecordedRunTest, TakesTheOldestCheckpointForEarlierSteps) {
  Start(0, "one process");
  Train(1, 30);
  EXPECT_EQ(CheckpointFor(ReadRun(dir()), 9), nullptr);
  for (const std::int64_t step : {10, 20}) {
    SaveCheckpoint(dir(), MadeCheckpoint(step));
  }
  const RecordedRun run = ReadRun(dir());
  EXPECT_EQ(CheckpointFor(run, 9)->step, 10);
  EXPECT_EQ(CheckpointFor(run, 20)->step, 20);
}

// Runs that --force resumed with another batch size; the last start keeps only
// its own checkpoint.
TEST_F(RecordedRunTest, RefusesToGuessAPlaceAfterAnotherStream) {
  MetricsLog(dir()).Write("start", 0, {{"batch_size", std::int64_t{32}}});
  Train(1, 10);
  Start(10, "one process");
  Train(11, 20);
  Start(20, "one process");
  Train(21, 30);
  SaveCheckpoint(dir(), MadeCheckpoint(30));
  RecordedRun run = ReadRun(dir());
  EXPECT_THAT(
      MessageOf<UsageError>(
          [&] { (void)FindKnownPlace(run, FindStart(run, 15)); }),
      HasSubstr("steps 11 to 20 of the run in " + dir() + " cannot be found"));
  EXPECT_EQ(FindKnownPlace(run, FindStart(run, 25)).step, 30);
  EXPECT_EQ(FindKnownPlace(run, FindStart(run, 5)).step, 0);
  // A start that a later one did again does not count.
  Start(0, "one process");
  Train(1, 10);
  Start(10, "one process");
  Train(11, 20);
  run = ReadRun(dir());
  EXPECT_EQ(FindKnownPlace(run, FindStart(run, 15)).step, 0);
}

TEST_F(RecordedRunTest, CountsStepsFromACheckpointWhereTheLogIsGone) {
  SaveCheckpoint(dir(), MadeCheckpoint(40));
  const RecordedRun run = ReadRun(dir());
  EXPECT_EQ(run.steps, 40);
  EXPECT_EQ(FindStart(run, 40).world_size, 1);
}

TEST(NoRecordedRunTest, IsRefusedByItsFolder) {
  const TemporaryFolder empty;
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)ReadRun(empty.path()); }),
      HasSubstr("model_dir=" + empty.path() + ": no run is recorded there"));
}

}  // namespace infeed::recorded_run_test
