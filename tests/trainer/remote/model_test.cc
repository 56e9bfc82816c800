#include "trainer/remote/model.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/remote_files.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/eval_history.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// One machine after the other, each with a disk, and one store.
class RemoteModelTest : public RemoteFiles {
 protected:
  struct Machine {
    Machine(const std::string& the_disk, const RemoteModelTest& test,
            RemoteModelOptions options)
        : disk(the_disk), outbox(disk + "/outbox") {
      options.url = kUrl;
      options.model_dir = model_dir();
      options.record = disk + "/sent.json";
      options.say = [this](const std::string& line) { said.push_back(line); };
      model = std::make_unique<RemoteModel>(options, test.runtime_,
                                            test.runtime_, outbox);
    }
    [[nodiscard]] std::string model_dir() const { return disk + "/model"; }

    std::string disk;
    Outbox outbox;
    std::vector<std::string> said;
    std::unique_ptr<RemoteModel> model;
  };

  // A run that begins on a machine.
  [[nodiscard]] std::unique_ptr<Machine> Start(
      const std::string& name, RemoteModelOptions options = {}) const {
    auto machine = std::make_unique<Machine>(disk_ / name, *this, options);
    machine->model->Begin();
    return machine;
  }
  // Simulates a training between two uploads.
  void Train(Machine& machine, std::int64_t step) const {
    std::ofstream(MetricsPath(machine.model_dir()), std::ios::app)
        << "{\"step\":" << step << ",\"by\":\"" << machine.disk << "\"}\n";
    machine.model->Add(step, Save(step, machine.model_dir()));
  }
  // A run on a machine whose steps are uploaded one by one.
  [[nodiscard]] std::unique_ptr<Machine> StartAndTrain(
      const std::string& name, const std::vector<std::int64_t>& steps) const {
    auto machine = Start(name);
    for (const std::int64_t step : steps) {
      Train(*machine, step);
      Round(*machine);
    }
    return machine;
  }
  [[nodiscard]] static std::vector<std::int64_t> StepsOn(
      const Machine& machine) {
    return ListCheckpoints(machine.model_dir());
  }
  // The error if no run can begin there.
  [[nodiscard]] std::string RefusalOf(const std::string& name) const {
    return MessageOf<UsageError>([&] { (void)Start(name); });
  }
  // All that was in the store goes.
  void EmptyStore() const {
    const RemoteFolder folder(kUrl, runtime_);
    for (const RemoteFile& file : folder.List()) {
      folder.Remove(file.name);
    }
  }
  [[nodiscard]] std::vector<std::int64_t> StepsThere() const {
    return RemoteCheckpoints(RemoteFolder(kUrl, runtime_)).List();
  }
  static void Round(Machine& machine) { machine.model->Round({}); }
  static void Best(const Machine& machine, std::int64_t step, double top_1) {
    BestCheckpoint best(machine.model_dir(), "top_1");
    ASSERT_TRUE(best.Note(step, top_1));
  }
};

TEST_F(RemoteModelTest, GoesOnOnAnotherMachine) {
  const auto first = Start("first");
  Train(*first, 10);
  Train(*first, 20);
  Write(PathIn(first->model_dir(), "eval/00000020.json"), "{}");
  Write(PathIn(first->model_dir(), "labels.txt"), "roses\n");
  Round(*first);
  const auto second = Start("second");
  EXPECT_THAT(StepsOn(*second), ElementsAre(20));
  for (const char* name :
       {"metrics.jsonl", "labels.txt", "eval/00000020.json"}) {
    EXPECT_EQ(Read(PathIn(second->model_dir(), name)), There(name)) << name;
  }
  EXPECT_THAT(second->model->Pending(), IsEmpty());
}

TEST_F(RemoteModelTest, UploadsWhatAKilledRunLeft) {
  const auto killed = StartAndTrain("machine", {10});
  Train(*killed, 20);
  const auto next = Start("machine");
  EXPECT_THAT(StepsThere(), ElementsAre(10, 20));
  EXPECT_THAT(next->said, ElementsAre(HasSubstr("uploading a checkpoint")));
  EXPECT_EQ(There("metrics.jsonl"), Read(MetricsPath(next->model_dir())));
}

TEST_F(RemoteModelTest, DropsWhatAnotherRunHasLeftBehind) {
  const auto here = StartAndTrain("here", {10});
  Train(*here, 20);  // never uploaded
  const auto elsewhere = StartAndTrain("elsewhere", {15});
  EXPECT_THAT(RefusalOf("here"),
              AllOf(HasSubstr("another run has trained there since"),
                    HasSubstr("not uploaded yet: the checkpoint of step 20"),
                    HasSubstr(here->disk + "/outbox"),
                    HasSubstr("--force deletes it")));
  EXPECT_THAT(here->outbox.Steps(), ElementsAre(20));
  const auto again = Start("here", {.force = true});
  EXPECT_THAT(StepsThere(), ElementsAre(10, 15));
  EXPECT_THAT(ListCheckpoints(again->model_dir()), ElementsAre(15));
  EXPECT_THAT(again->said, ElementsAre(HasSubstr("step 20, which was never")));
  EXPECT_EQ(Read(MetricsPath(again->model_dir())), There("metrics.jsonl"));
}

TEST_F(RemoteModelTest, AStoreThatWasEmptiedBeginsAnew) {
  const auto first = StartAndTrain("machine", {10});
  EmptyStore();
  const auto next = Start("machine");
  EXPECT_THAT(StepsOn(*next), IsEmpty());
  EXPECT_FALSE(fs::exists(MetricsPath(next->model_dir())));
  EXPECT_THAT(server_.Keys("gs-shards"), IsEmpty());
}

TEST_F(RemoteModelTest, WhatAnEmptiedStoreNeverGotStaysHere) {
  const auto first = StartAndTrain("machine", {10});
  Train(*first, 20);
  Train(*first, 30);
  EmptyStore();
  EXPECT_THAT(
      RefusalOf("machine"),
      AllOf(HasSubstr("model_dir=gs://gs-shards/model: "),
            HasSubstr("its metrics.jsonl is missing"),
            HasSubstr("not uploaded yet: the checkpoints of steps 20, 30")));
  EXPECT_THAT(StepsOn(*first), ElementsAre(10, 20, 30));
  EXPECT_THAT(first->outbox.Steps(), ElementsAre(20, 30));
  const auto forced = Start("machine", {.force = true});
  EXPECT_THAT(StepsOn(*forced), IsEmpty());
  EXPECT_THAT(forced->outbox.Steps(), IsEmpty());
}

// Killed before it could put the checkpoint into the outbox.
TEST_F(RemoteModelTest, UploadsACheckpointThatNobodyWasToldOf) {
  const auto killed = StartAndTrain("machine", {10});
  (void)Save(20, killed->model_dir());
  const auto next = Start("machine");
  EXPECT_THAT(StepsThere(), ElementsAre(10, 20));
  (void)Save(30, next->model_dir());
  EmptyStore();
  EXPECT_THAT(RefusalOf("machine"), HasSubstr("step 30, in "));
}

// A store that cannot be reached gives no information about its state.
TEST_F(RemoteModelTest, AStoreThatFailsDropsNothing) {
  const auto first = StartAndTrain("machine", {10});
  Train(*first, 20);
  server_.SetFaults(
      R"({"fault": "status", "method": "GET", "path": "metrics"})");
  EXPECT_THROW((void)Start("machine"), IoError);
  EXPECT_THAT(StepsOn(*first), ElementsAre(10, 20));
  EXPECT_THAT(first->outbox.Steps(), ElementsAre(20));
}

// A checkpoint that was deleted from the store is deleted here, too.
TEST_F(RemoteModelTest, ACheckpointThatWasTakenFromTheStoreStaysAway) {
  const auto first = StartAndTrain("machine", {10, 20});
  RemoteCheckpoints(RemoteFolder(kUrl, runtime_)).Remove(20);
  const auto next = Start("machine");
  EXPECT_THAT(StepsOn(*next), ElementsAre(10));
  EXPECT_THAT(StepsThere(), ElementsAre(10));
}

TEST_F(RemoteModelTest, KeepsThereWhatADiskWouldKeep) {
  const auto run = Start("machine", {.keep = {.last = 2, .every = 3}});
  for (std::int64_t step = 1; step <= 8; ++step) {
    Train(*run, step);
    if (step == 2) {
      Best(*run, 2, 0.5);
    }
    Round(*run);
  }
  EXPECT_THAT(StepsThere(), ElementsAre(2, 3, 6, 7, 8));
  EXPECT_THAT(There("best.json"), HasSubstr("\"step\":2"));
}

TEST_F(RemoteModelTest, TheBestComesToTrainingsAndToModesThatAskForIt) {
  const auto run = StartAndTrain("machine", {1, 2, 3});
  Best(*run, 2, 0.5);
  Round(*run);
  const auto next = Start("another");
  EXPECT_THAT(StepsOn(*next), ElementsAre(2, 3));
  EXPECT_EQ(BestCheckpoint(next->model_dir(), "top_1").step(), 2);
  const auto newest = Start("newest", {.trains = false});
  EXPECT_THAT(StepsOn(*newest), ElementsAre(3));
  EXPECT_EQ(RecordedBestStep(newest->model_dir()), 2);
  const auto best = Start("best", {.trains = false, .resume = "best"});
  EXPECT_THAT(StepsOn(*best), ElementsAre(2, 3));
}

TEST_F(RemoteModelTest, SeveralComeToARunThatAveragesThem) {
  const auto run = StartAndTrain("machine", {1, 2, 3, 4});
  const auto newest = Start("newest", {.trains = false, .checkpoints = 2});
  EXPECT_THAT(StepsOn(*newest), ElementsAre(3, 4));
  const auto third =
      Start("third", {.trains = false, .resume = "3", .checkpoints = 2});
  EXPECT_THAT(StepsOn(*third), ElementsAre(2, 3, 4));
  const auto all = Start("all", {.trains = false, .checkpoints = 9});
  EXPECT_THAT(StepsOn(*all), ElementsAre(1, 2, 3, 4));
}

TEST_F(RemoteModelTest, TheLogAndEveryStateComeToAReplay) {
  const auto run = StartAndTrain("machine", {1, 2});
  const auto replay =
      Start("replay", {.trains = false, .checkpoints = 0, .reads_log = true});
  EXPECT_EQ(Read(MetricsPath(replay->model_dir())), There("metrics.jsonl"));
  EXPECT_EQ(LoadRunState(replay->model_dir(), 1).step, 1);
  EXPECT_EQ(LoadRunState(replay->model_dir(), 2).step, 2);
  EXPECT_THROW((void)LoadCheckpoint(replay->model_dir(), 2), DataError);
  EXPECT_THAT(replay->model->Pending(), IsEmpty());
}

// best.json never names a checkpoint that is not there.
TEST_F(RemoteModelTest, TheBestIsNamedOnceItIsThere) {
  const auto run = Start("machine");
  Train(*run, 1);
  Best(*run, 1, 0.5);
  server_.SetFaults(
      R"({"fault": "status", "method": "PUT", "path": "MANIFEST"})");
  EXPECT_THROW(Round(*run), IoError);
  EXPECT_FALSE(IsThere("best.json"));
  server_.SetFaults("");
  Round(*run);
  EXPECT_THAT(There("best.json"), HasSubstr("\"step\":1"));
}

TEST_F(RemoteModelTest, ACourseThatWasLeftStays) {
  const auto first = StartAndTrain("machine", {10, 20, 30});
  const auto again = Start("another", {.keep = {.last = 1}, .resume = "10"});
  EXPECT_THAT(StepsOn(*again), ElementsAre(10, 30));
  Train(*again, 11);
  Round(*again);
  EXPECT_THAT(StepsThere(), ElementsAre(11, 20, 30));
}

TEST_F(RemoteModelTest, ACourseThatMayGoLeavesWithItsBest) {
  const auto first = StartAndTrain("machine", {10, 20, 30});
  Best(*first, 30, 0.5);
  for (const std::int64_t step : {10, 30}) {
    Write(EvalPath(first->model_dir(), step), "{}");
  }
  Round(*first);
  const auto again =
      Start("another", {.keep = {.drops_later = true}, .resume = "10"});
  ForgetBestAfter(10, again->model_dir());
  ForgetEvaluationsAfter(10, again->model_dir());
  Round(*again);
  EXPECT_TRUE(IsThere("eval/00000010.json"));
  EXPECT_FALSE(IsThere("eval/00000030.json"));
  EXPECT_THAT(StepsThere(), ElementsAre(10, 20, 30));
  EXPECT_FALSE(IsThere("best.json"));
  Train(*again, 11);
  Round(*again);
  EXPECT_THAT(StepsThere(), ElementsAre(10, 11));
}

// Killed before the first new checkpoint is in the store, or before the later
// ones have left it.
TEST_F(RemoteModelTest, AKilledRunThatWentBackWinsOnItsMachine) {
  for (const bool is_sent : {false, true}) {
    EmptyStore();
    const std::string name = is_sent ? "sent" : "left";
    (void)StartAndTrain("first-" + name, {10, 20, 30});
    const auto killed =
        Start(name, {.keep = {.drops_later = true}, .resume = "10"});
    Train(*killed, 11);
    if (is_sent) {
      server_.SetFaults(
          R"({"fault": "status", "method": "DELETE", "path": "000[23]0/"})");
      EXPECT_THROW(Round(*killed), IoError);
      server_.SetFaults("");
      EXPECT_THAT(StepsThere(), ElementsAre(10, 11, 20, 30));
    }
    const auto next = Start(name);
    EXPECT_THAT(StepsThere(), ElementsAre(10, 11));
    EXPECT_THAT(StepsOn(*next), ElementsAre(10, 11));
  }
}

// It left nothing of its course.
TEST_F(RemoteModelTest, ARunThatWentBackAndHadNoCheckpointCostsNone) {
  (void)StartAndTrain("first", {10, 20});
  const RemoteModelOptions back = {.keep = {.drops_later = true},
                                   .resume = "10"};
  (void)Start("machine", back);
  EXPECT_THAT(StepsOn(*Start("machine")), ElementsAre(10, 20));
  EXPECT_THAT(StepsThere(), ElementsAre(10, 20));
}

TEST_F(RemoteModelTest, FollowsNewCheckpoints) {
  const auto training = Start("training");
  const auto follower = Start("follower", {.trains = false});
  EXPECT_THAT(ListCheckpoints(follower->model_dir()), IsEmpty());
  for (const std::int64_t step : {1, 2}) {
    Train(*training, step);
    Round(*training);
    follower->model->PullNewer();
    EXPECT_THAT(ListCheckpoints(follower->model_dir()), ElementsAre(step));
  }
}

TEST_F(RemoteModelTest, AnEvaluationLeavesTheTrainingsMetricsAlone) {
  const auto training = StartAndTrain("training", {1});
  const std::string metrics = There("metrics.jsonl");
  const auto follower = Start("follower", {.trains = false});
  std::ofstream(MetricsPath(follower->model_dir())) << "its own\n";
  Write(PathIn(follower->model_dir(), "eval/00000001.json"), "{}");
  EXPECT_THAT(follower->model->Pending(), ElementsAre("eval/00000001.json"));
  Round(*follower);
  EXPECT_EQ(There("metrics.jsonl"), metrics);
  EXPECT_TRUE(IsThere("eval/00000001.json"));
}

TEST_F(RemoteModelTest, NeverFindsThatThereAreCheckpoints) {
  const auto training = StartAndTrain("training", {1});
  const auto next = Start("next", {.resume = "never"});
  EXPECT_THAT(StepsOn(*next), ElementsAre(1));
}

}  // namespace
}  // namespace infeed
