#include "pipeline/engine/worker_trial.h"

#include <chrono>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/remote/messages.h"
#include "tests/support/loopback_rpc.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_worker.h"
#include "tests/support/throws.h"

namespace infeed::worker_trial_test {

using std::chrono::milliseconds;

constexpr LinkTimes kTimes = {.tick = milliseconds(1)};

InputOptions Options(const std::string& workers) {
  InputOptions options = SmallTraining();
  options.batch_size = 10;
  options.threads = 1;  // Ranges of two slots.
  options.workers = workers;
  return options;
}

class WorkerTrialTest : public ::testing::Test {
 protected:
  [[nodiscard]] WorkersTrial Try(const InputOptions& options,
                                 const LinkTimes& times = kTimes) {
    return TryWorkers(rpc_, SharedIndex(), options, times);
  }
  // The trial of the worker a:1.
  [[nodiscard]] WorkerTrial TryOne(const LinkTimes& times = kTimes) {
    return Try(Options("a:1"), times).workers.at(0);
  }

  LoopbackRpc rpc_;
};

TEST_F(WorkerTrialTest, EqualSlotsAreCountedAndTimed) {
  TestWorker worker(rpc_, "a:1", SharedIndex());
  const WorkersTrial trial = Try(Options("a:1"));
  EXPECT_EQ(trial.slots, 64);
  EXPECT_EQ(trial.range, 2);
  EXPECT_TRUE(trial.has_images);
  ASSERT_EQ(trial.workers.size(), 1U);
  const WorkerTrial& one = trial.workers.front();
  EXPECT_EQ(one.address, "a:1");
  EXPECT_EQ(one.name, "name of a:1");
  EXPECT_EQ(one.problem, "");
  EXPECT_EQ(one.compared, 64);
  EXPECT_EQ(one.differing, 0);
  EXPECT_GT(one.fill_seconds, 0);
  EXPECT_GT(one.receive_seconds, 0);
  EXPECT_GT(one.latency_seconds, 0);
  EXPECT_GT(trial.fill_seconds, 0);
  EXPECT_THAT(trial.Describe(one),
              StartsWith("name of a:1: 64 images are the same; CPU s per "
                         "1,000: "));
  EXPECT_THAT(trial.Conclusion(),
              MatchesRegex("receiving costs [0-9.]+ CPU s per 1,000 images, "
                           "filling here [0-9.]+: a core feeds [0-9.]+ times "
                           "as many"));
  RequireUsable(one);
}

TEST_F(WorkerTrialTest, AShortStreamHasFewerSlots) {
  TestWorker worker(rpc_, "a:1", SharedIndex());
  InputOptions options = Options("a:1");
  options.repeat = 1;
  options.layout = BatchContent::kRgb;
  // Its own part are two slots.
  options.world_size = 10;
  options.rank = 9;
  const WorkersTrial trial = Try(options);
  EXPECT_EQ(trial.slots, SharedIndex().size() / 10 * 10);
  EXPECT_EQ(trial.workers.at(0).compared, trial.slots);
  EXPECT_EQ(trial.workers.at(0).problem, "");
}

TEST_F(WorkerTrialTest, ALiarIsNamedWithAllSlotsThatDiffer) {
  TestWorker worker(rpc_, "a:1", SharedIndex(), {}, {.honest = 2});
  const WorkersTrial trial = Try(Options("a:1"));
  const WorkerTrial& one = trial.workers.at(0);
  EXPECT_EQ(one.compared, 64);
  EXPECT_GT(one.differing, 30);
  EXPECT_LT(one.differing, 64) << "the first counted range was right";
  EXPECT_THAT(one.problem,
              StartsWith("worker a:1 (name of a:1) fills slots differently: "
                         "epoch "));
  EXPECT_THAT(trial.Describe(one), HasSubstr(" of 64 images differ"));
  EXPECT_EQ(trial.Conclusion(), "");
  EXPECT_THROW(RequireUsable(one), IoError);
}

TEST_F(WorkerTrialTest, OneThatIsNotThereIsAProblem) {
  const WorkersTrial trial = Try(Options("a:1"));
  const WorkerTrial& one = trial.workers.at(0);
  EXPECT_THAT(one.problem, StartsWith("worker a:1 cannot be reached"));
  EXPECT_FALSE(one.is_refusal);
  EXPECT_EQ(one.compared, 0);
  EXPECT_EQ(trial.fill_seconds, 0) << "slots were filled for nobody";
  EXPECT_EQ(trial.Describe(one), "cannot be used");
  EXPECT_THROW(RequireUsable(one), IoError);
}

TEST_F(WorkerTrialTest, OfALongListSomeAreTriedAndThatIsSaid) {
  std::string list = "w0:1";
  for (int i = 1; i < 70; ++i) {
    list += ",w" + std::to_string(i) + ":1";
  }
  WorkersTrial trial = Try(Options(list));
  EXPECT_EQ(trial.listed, 70);
  EXPECT_EQ(trial.workers.size(), 64U);
  EXPECT_EQ(trial.Conclusion(), "64 of 70 workers were tried");
  trial.workers[0].problem.clear();
  EXPECT_THAT(trial.Conclusion(), StartsWith("64 of 70 workers were tried; "
                                             "receiving costs "));
}

TEST_F(WorkerTrialTest, ARefusalIsAProblem) {
  TestWorker token(rpc_, "a:1", SharedIndex(), {.token = std::string(32, 'x')});
  const TestShards other(TestPayloads(3));
  TestWorker data(rpc_, "b:1", other.index());
  const WorkersTrial trial = Try(Options("a:1,b:1"));
  ASSERT_EQ(trial.workers.size(), 2U);
  EXPECT_THAT(
      trial.workers[0].problem,
      AllOf(StartsWith("worker a:1 does not take"), HasSubstr("token")));
  EXPECT_THAT(trial.workers[1].problem,
              AllOf(StartsWith("worker b:1 does not take"),
                    HasSubstr("the data are others")));
  for (const WorkerTrial& one : trial.workers) {
    EXPECT_TRUE(one.is_refusal);
    EXPECT_EQ(trial.Describe(one), "refuses the stream");
    EXPECT_THROW(RequireUsable(one), UsageError);
  }
}

TEST_F(WorkerTrialTest, OthersAreTriedBesideOneThatCannotBeUsed) {
  TestWorker worker(rpc_, "b:1", SharedIndex());
  const WorkersTrial trial = Try(Options("c:1,b:1,a:1"));
  ASSERT_EQ(trial.workers.size(), 3U);
  EXPECT_NE(trial.workers[0].problem, "");
  EXPECT_EQ(trial.workers[1].problem, "");
  EXPECT_EQ(trial.workers[1].compared, 64);
  EXPECT_NE(trial.workers[2].problem, "");
  EXPECT_THAT(trial.Conclusion(), StartsWith("receiving costs "));
}

TEST_F(WorkerTrialTest, ABusyOneIsAskedAgain) {
  TestWorker worker(rpc_, "a:1", SharedIndex(), {}, {.busy = 3});
  EXPECT_EQ(TryOne().problem, "");
}

TEST_F(WorkerTrialTest, OneThatStaysBusyIsAProblem) {
  TestWorker worker(rpc_, "a:1", SharedIndex(), {}, {.busy = 1 << 30});
  LinkTimes times = kTimes;
  times.least_fill = milliseconds(20);
  EXPECT_THAT(TryOne(times).problem, HasSubstr(": it did not fill a range: "));
}

TEST_F(WorkerTrialTest, AReplyWithAWrongSumIsAProblem) {
  TestWorker worker(rpc_, "a:1", SharedIndex());
  rpc_.SetFaults("a:1", {.flipped = 100});
  const WorkerTrial one = TryOne();
  EXPECT_THAT(one.problem, StartsWith("worker a:1 (name of a:1): "));
  EXPECT_THAT(one.problem, HasSubstr("checksum"));
}

TEST_F(WorkerTrialTest, SlotsOfBadRecordsAreNotCompared) {
  TestShards shards(TestPayloads(22));
  shards.Damage(3);
  TestWorker worker(rpc_, "a:1", shards.index());
  InputOptions options = Options("a:1");
  options.on_bad_record = OnBadRecord::kSkip;
  const WorkersTrial trial = TryWorkers(rpc_, shards.index(), options, kTimes);
  const WorkerTrial& one = trial.workers.at(0);
  EXPECT_EQ(one.problem, "");
  EXPECT_GT(one.compared, 50);
  EXPECT_LT(one.compared, 64);
  EXPECT_THAT(trial.Describe(one), HasSubstr(" were not compared; "));
}

TEST_F(WorkerTrialTest, WithoutAnySlotToCompareAWorkerIsNotProved) {
  TestShards shards(TestPayloads(22));
  shards.Damage(0);
  TestWorker worker(rpc_, "a:1", shards.index());
  InputOptions options = Options("a:1");
  options.batch_size = 1;
  options.max_records = 1;
  options.on_bad_record = OnBadRecord::kSkip;
  const WorkersTrial trial = TryWorkers(rpc_, shards.index(), options, kTimes);
  EXPECT_THAT(trial.workers.at(0).problem,
              HasSubstr("no slot could be compared"));
}

TEST_F(WorkerTrialTest, AListThatHasNoAddressNowIsAnError) {
  const TemporaryFolder folder;
  const std::string file = folder / "workers";
  WriteFileAtomically(file, "# none yet\n");
  EXPECT_THAT(MessageOf<IoError>([&] { (void)Try(Options("@" + file)); }),
              HasSubstr("has no address now"));
  EXPECT_THROW((void)Try(Options("nonsense")), UsageError);
}

}  // namespace infeed::worker_trial_test
