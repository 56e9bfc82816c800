#include "trainer/log/train_log.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

using nlohmann::json;
using ::testing::IsSupersetOf;

constexpr DeviceUse kDevice = {.loop_seconds = 4,
                               .busy_seconds = 3,
                               .host_syncs = 1,
                               .loops = 1,
                               .operations = 8e12,
                               .bytes = 4e9};

// A training of two loops of two steps, a checkpoint and an evaluation, logged
// to a folder.
class TrainLogTest : public testing::Test {
 protected:
  void Run(bool skip_steps = false, Profiler* profiler = nullptr) {
    TrainLog log({.model_dir = folder_.path(),
                  .train_images = 8,
                  .eval_images = 8,
                  .evaluations = EvalSteps{.last_step = 4, .interval = 4},
                  .skip_steps = skip_steps,
                  .configuration = "train_steps: 4\n",
                  .ceilings = {.tflops = 16, .gb_per_second = 40},
                  .report = {.title = "made",
                             .total_steps = 4,
                             .batch_size = 4,
                             .configuration = {{"train_steps", "4"},
                                               {"momentum", "0.9"},
                                               {"use_nesterov", "true"},
                                               {"model", "resnet"},
                                               {"mixed", "4GiB"},
                                               {"empty", ""}},
                             .origin = {{"command", "train_resnet --a=b"},
                                        {"commit", "0123456789ab"}}},
                  .profiler = profiler});
    for (std::int64_t step = 0; step < 4; step += 2) {
      log.BeginLoop(0);
      if (step == 0) {
        log.FirstBatch(MadeBatch());
      }
      for (std::int64_t i = 1; i <= 2; ++i) {
        log.Step({.step = step + i, .loss = 2, .top_1 = 0.5}, 0);
      }
      log.EndLoop({.step = step + 2, .done = 2, .device = kDevice}, BusyRun(),
                  BusyRun());
    }
    log.CheckpointWritten(4, "checkpoint");
    EvalResult result;
    result.images = 8;
    result.classes = 2;
    result.confusion = {3, 1, 1, 3};
    result.roc = {{0, 0}, {1, 1}};
    log.Evaluation(4, result);
    log.End(4, RunEnd::kDone);
  }

  static Batch MadeBatch() {
    Batch batch({.size = 4, .image_size = 8});
    std::ranges::fill(batch.pixels(), 0x10'20'30'00);
    return batch;
  }

  [[nodiscard]] std::vector<json> Lines(const std::string& event) const {
    std::vector<json> lines;
    std::ifstream file(folder_ / "metrics.jsonl");
    for (std::string text; std::getline(file, text);) {
      json line = json::parse(text);
      if (line["event"] == event) {
        lines.push_back(std::move(line));
      }
    }
    return lines;
  }
  [[nodiscard]] std::string ReportText() const {
    return ReadWholeFile(folder_ / "report.html", 1 << 24);
  }
  [[nodiscard]] std::string Events(const std::string& below = "") const {
    std::string bytes;
    for (const auto& file :
         std::filesystem::directory_iterator(folder_ / below)) {
      if (file.path().filename().string().starts_with("events.out")) {
        bytes += ReadWholeFile(file.path(), 1 << 24);
      }
    }
    return bytes;
  }

  TemporaryFolder folder_;
};

TEST_F(TrainLogTest, HasTheSameKeysInEveryEvent) {
  Run();
  for (const char* const event :
       {"train", "loop", "eval", "checkpoint", "end"}) {
    ASSERT_FALSE(Lines(event).empty()) << event;
    for (const json& line : Lines(event)) {
      for (const char* const key :
           {"schema", "time", "event", "step", "loss", "top_1",
            "images_per_second", "input_wait"}) {
        EXPECT_TRUE(line.contains(key)) << event << " " << key;
      }
    }
  }
  EXPECT_EQ(Lines("train").size(), 4U);
  EXPECT_EQ(Lines("end")[0]["loss"], 2);
  EXPECT_EQ(Lines("start")[0]["batch_size"], 4);
}

TEST_F(TrainLogTest, TellsOfALossThatIsScaled) {
  Run();
  EXPECT_FALSE(Lines("loop")[0].contains("loss_scale"));
  TrainLog log({.model_dir = folder_.path(), .train_images = 8});
  log.BeginLoop(0);
  log.Step({.step = 5, .loss_scale = 64, .skipped_steps = 0}, 0);
  log.Step({.step = 6, .loss_scale = 32, .skipped_steps = 1}, 0);
  log.EndLoop({.step = 6, .done = 2, .device = kDevice}, BusyRun(), BusyRun());
  EXPECT_EQ(Lines("train")[4]["loss_scale"], 64);
  EXPECT_EQ(Lines("train")[4]["skipped_steps"], 0);
  EXPECT_EQ(Lines("loop")[2]["loss_scale"], 32);
  EXPECT_EQ(Lines("loop")[2]["skipped_steps"], 1);
  EXPECT_THAT(Events(), HasSubstr("skipped_steps"));
}

TEST_F(TrainLogTest, KeepsTheWarmUpApart) {
  Run();
  ASSERT_EQ(Lines("warm_up").size(), 1U);
  EXPECT_EQ(Lines("warm_up")[0]["steps"], 1);
  EXPECT_EQ(Lines("warm_up")[0]["first_batch_seconds"], 1);
  EXPECT_EQ(Lines("train")[0]["warm_up"], true);
  EXPECT_EQ(Lines("train")[1]["warm_up"], false);
  EXPECT_EQ(Lines("loop")[0]["warm_up"], false);
}

TEST_F(TrainLogTest, TellsWhatTheDeviceReached) {
  Run();
  ASSERT_EQ(Lines("loop").size(), 2U);
  for (const json& line : {Lines("loop")[1], Lines("end")[0]}) {
    EXPECT_EQ(line["device_busy"], 0.75);
    EXPECT_EQ(line["tflops"], 2);
    EXPECT_EQ(line["gb_per_second"], 1);
    EXPECT_EQ(line["host_syncs"], 1);
  }
  EXPECT_EQ(Lines("end")[0]["tflops_measured"], 16);
  EXPECT_EQ(Lines("end")[0]["gb_per_second_measured"], 40);
  for (const char* const tag : {"device/busy", "device/tflops",
                                "device/gb_per_second", "device/host_syncs"}) {
    EXPECT_THAT(Events(), HasSubstr(tag));
  }
  EXPECT_THAT(ReportText(),
              AllOf(HasSubstr("The device, in loops"), HasSubstr("12.5 %")));
}

TEST_F(TrainLogTest, TellsHowTheInputsOfAllRanksKeptUp) {
  TrainLog log({.model_dir = folder_.path()});
  log.BeginLoop(0);
  log.Step({.step = 1}, 0);
  log.EndLoop(
      {.step = 1, .done = 1, .rank_waits = RankWaits{.worst = 3, .mean = 2}},
      BusyRun(), BusyRun());
  const json line = Lines("loop").at(0);
  const double worst = line["input_wait_of_worst_rank"];
  EXPECT_NEAR(worst * line["seconds"].get<double>(), 3, 1e-6);
  EXPECT_NEAR(line["input_wait_of_ranks"].get<double>(), worst * 2 / 3, 1e-6);
  EXPECT_THAT(Events(), HasSubstr("ranks/input_wait_worst"));
}

TEST_F(TrainLogTest, ALoopHasTheFingerprintOfTheInput) {
  for (const std::optional<InputHash> hash :
       {std::optional(InputHash::kRecords), std::optional(InputHash::kPixels),
        std::optional<InputHash>()}) {
    TrainLog log({.model_dir = folder_.path(), .input_hash = hash});
    log.BeginLoop(0);
    log.EndLoop({.step = 1, .done = 1, .input_fingerprint = 0xAB}, BusyRun(),
                BusyRun());
  }
  const std::vector<json> lines = Lines("loop");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["input_fingerprint"], "00000000000000ab");
  EXPECT_FALSE(lines[0].contains("input_hash"));
  EXPECT_EQ(lines[1]["input_hash"], "pixels");
  EXPECT_FALSE(lines[2].contains("input_fingerprint"));
}

TEST_F(TrainLogTest, LeavesStepsOutWhereAsked) {
  Run(true);
  EXPECT_TRUE(Lines("train").empty());
  ASSERT_EQ(Lines("loop").size(), 2U);
  EXPECT_EQ(Lines("loop")[1]["loss"], 2);
  EXPECT_THAT(Events(), HasSubstr("learning_rate"));
}

TEST_F(TrainLogTest, HasALineOfEverySecondStepWhereAsked) {
  TrainLog log({.model_dir = folder_.path(), .steps_per_line = 2});
  log.BeginLoop(0);
  for (const std::int64_t step : {1, 2, 3, 4}) {
    log.Step({.step = step}, 0);
  }
  ASSERT_EQ(Lines("train").size(), 2U);
  EXPECT_EQ(Lines("train")[0]["step"], 2);
  EXPECT_EQ(Lines("train")[1]["step"], 4);
}

TEST_F(TrainLogTest, TellsTensorBoardTheReferencesTags) {
  Run();
  for (const char* const tag :
       {"loss", "learning_rate", "current_epoch", "global_step/sec",
        "examples/sec", "top_1_accuracy", "inputs/3", "configuration"}) {
    EXPECT_THAT(Events(), HasSubstr(tag));
  }
  EXPECT_THAT(
      Events("eval"),
      AllOf(HasSubstr("top_1_accuracy"), Not(HasSubstr("top_5_accuracy")),
            HasSubstr("confusion_matrix"), HasSubstr("roc")));
}

TEST_F(TrainLogTest, WritesTheReportAndHowTheRunCanBeDoneAgain) {
  Run();
  EXPECT_THAT(ReportText(),
              AllOf(HasSubstr("<title>made</title>"), HasSubstr("ended"),
                    HasSubstr("decode bounds the run"),
                    HasSubstr("<td>command</td><td>train_resnet --a=b</td>"),
                    HasSubstr("<td>peak_memory</td>")));
  std::string first;
  std::getline(std::ifstream(folder_ / "metrics.jsonl"), first);
  EXPECT_EQ(json::parse(first), Lines("start")[0]);
  EXPECT_EQ(Lines("start")[0]["command"], "train_resnet --a=b");
  EXPECT_EQ(Lines("start")[0]["commit"], "0123456789ab");
  EXPECT_GT(Lines("end")[0]["peak_memory_bytes"], 1 << 20);
}

TEST_F(TrainLogTest, WritesProfiles) {
  Profiler profiler({.model_dir = folder_.path(),
                     .every_n_steps = 2,
                     .duration = std::chrono::hours(1)},
                    nullptr);
  Run(false, &profiler);
  ASSERT_EQ(Lines("profile").size(), 1U);
  EXPECT_EQ(Lines("profile")[0]["step"], 2);
  const json trace =
      json::parse(ReadWholeFile(Lines("profile")[0]["file"], 1 << 24));
  std::vector<std::string> names;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      names.push_back(event["name"]);
    }
  }
  EXPECT_THAT(names,
              IsSupersetOf({"loop", "result", "checkpoint", "evaluation"}));
  EXPECT_THAT(Events(), HasSubstr("profile/input_wait"));
}

TEST_F(TrainLogTest, TensorBoardReadsTheEvents) {
  Run();
  const int status =
      std::system(("python3 " INFEED_INTEROP "/read_events.py " +
                   folder_.path() + " > " + folder_.path() + "/out 2>&1")
                      .c_str());
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "python3 has no tensorboard";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0)
      << ReadWholeFile(folder_.path() + "/out", 1 << 20);
}

TEST_F(TrainLogTest, MentionsBadRecordsAlsoOfARunThatIsStopped) {
  std::vector<std::string> lines;
  TrainLog log(
      {.model_dir = folder_.path(), .say = [&](const std::string& line) {
         if (line.starts_with("the first bad record")) {
           lines.push_back(line);
         }
       }});
  PipelineStats loop = BusyRun();
  PipelineStats all = loop;
  std::int64_t step = 0;
  for (const int bad : {0, 2, 1}) {
    loop.bad_records = bad;
    all.bad_records += bad;
    all.first_bad_record = all.bad_records > 0 ? "train-0: record 4" : "";
    log.BeginLoop(0);
    log.Step({.step = ++step}, 0);
    log.EndLoop({.step = step, .done = 1, .device = kDevice}, loop, all);
  }
  log.End(step, RunEnd::kStopped);
  EXPECT_THAT(lines, ElementsAre("the first bad record of this run: train-0: "
                                 "record 4"));
  EXPECT_EQ(Lines("loop")[0]["bad_records"], 0);
  EXPECT_EQ(Lines("loop")[1]["bad_records"], 2);
  EXPECT_EQ(Lines("end")[0]["bad_records"], 3);
}

TEST_F(TrainLogTest, CallsTheHooksOnceItsFilesAreWritten) {
  std::vector<std::string> calls;
  TrainLog log({.model_dir = folder_.path(),
                .on_checkpoint =
                    [&](std::int64_t step, const std::string& folder) {
                      EXPECT_EQ(Lines("checkpoint").size(), 1U);
                      EXPECT_THAT(ReportText(), HasSubstr("steps, so far"));
                      calls.push_back(folder + " " + std::to_string(step));
                    },
                .on_end =
                    [&] {
                      EXPECT_EQ(Lines("end").size(), 1U);
                      EXPECT_THAT(ReportText(), HasSubstr("steps, stopped"));
                      calls.emplace_back("end");
                    }});
  log.CheckpointWritten(7, "folder");
  log.End(8, RunEnd::kStopped);
  EXPECT_THAT(calls, ElementsAre("folder 7", "end"));
}

TEST_F(TrainLogTest, PrintsTheLineOfAnEpochAfterTheEvaluationAtItsEnd) {
  testing::internal::CaptureStdout();
  TrainLog log(
      {.model_dir = folder_.path(),
       .epoch_lines = true,
       .evaluations = EvalSteps{.last_step = 2,
                                .interval = 1,
                                .epochs = {.batch_size = 4, .samples = 8}}});
  log.BeginLoop(0);
  for (const std::int64_t step : {1, 2}) {
    log.Step({.step = step, .loss = 2, .top_1 = 0.5, .images = 4}, 0);
    log.Evaluation(step, {.images = 4, .top_1 = 0.75, .loss = 0.5});
  }
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      StartsWith("[Epoch 1] Training Loss: 2.000, Training Accuracy: 4/8 "
                 "(50.0%), Test Loss: 0.500, Test Accuracy: 3/4 (75.0%) "
                 "seconds per epoch: "));
}

}  // namespace
}  // namespace infeed
