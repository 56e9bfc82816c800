#include "trainer/log/run_history.h"

#include <cmath>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "trainer/results/metrics_log.h"

namespace infeed {
namespace {

std::vector<std::int64_t> StepsOf(const RunHistory& history) {
  std::vector<std::int64_t> steps;
  for (const HistoryPoint& point : history.steps()) {
    steps.push_back(point.step);
  }
  return steps;
}

TEST(RunHistoryTest, ReadsWhatTheLogWrites) {
  const TemporaryFolder folder;
  MetricsLog log(folder.path());
  log.Write("start", 0, {});
  log.Write("train", 1,
            {{"loss", 1.5},
             {"top_1", 0.25},
             {"images_per_second", 10.0},
             {"input_wait", 0.5},
             {"learning_rate", 0.1},
             {"warm_up", true}});
  log.Write("warm_up", 1,
            {{"seconds", 2.0},
             {"first_batch_seconds", 1.0},
             {"start_up_seconds", 0.5}});
  log.Write("checkpoint", 1, {});
  log.Write("eval", 1, {{"loss", 2.0}, {"top_1", 0.5}, {"top_5", 1.0}});
  RunHistory history(folder.path());
  history.Update();
  ASSERT_EQ(history.steps().size(), 1U);
  const HistoryPoint& point = history.steps()[0];
  EXPECT_EQ(point.loss, 1.5);
  EXPECT_EQ(point.top_1, 0.25);
  EXPECT_EQ(point.images_per_second, 10);
  EXPECT_EQ(point.input_wait, 0.5);
  EXPECT_EQ(point.learning_rate, 0.1);
  EXPECT_TRUE(point.warm_up);
  ASSERT_EQ(history.evaluations().size(), 1U);
  EXPECT_EQ(history.evaluations()[0].top_5, 1);
  ASSERT_EQ(history.runs().size(), 1U);
  EXPECT_EQ(history.runs()[0].warm_up_seconds, 2);
  EXPECT_EQ(history.runs()[0].first_batch_seconds, 1);
  EXPECT_FALSE(history.runs()[0].end);
}

TEST(RunHistoryTest, KeepsTheOriginOfEachRun) {
  RunHistory history("nowhere");
  history.Add(
      R"({"event":"start","step":0,"batch_size":64,"data_dir":"/data"})");
  history.Add(R"({"event":"start","step":9,"ranks":"one process"})");
  ASSERT_EQ(history.runs().size(), 2U);
  EXPECT_EQ(history.runs()[0].batch_size, 64);
  EXPECT_EQ(OriginValue(history.runs()[0].origin, "data_dir"), "/data");
  EXPECT_EQ(OriginValue(history.runs()[0].origin, "event"), "");
  EXPECT_EQ(history.runs()[1].batch_size, 0);
  EXPECT_EQ(OriginValue(history.runs()[1].origin, "ranks"), "one process");
}

TEST(RunHistoryTest, ReadsHowARunEnded) {
  RunHistory history("nowhere");
  for (const auto& [line, end] :
       {std::pair(R"({"event":"end","step":4})", RunEnd::kDone),
        std::pair(R"({"event":"end","step":4,"state":7})", RunEnd::kDone),
        std::pair(R"({"event":"end","step":4,"state":"done"})", RunEnd::kDone),
        std::pair(R"({"event":"end","step":4,"state":"stopped"})",
                  RunEnd::kStopped),
        std::pair(R"({"event":"end","step":4,"state":"diverged"})",
                  RunEnd::kDiverged)}) {
    history.Add(R"({"event":"start","step":0,"command":"x"})");
    EXPECT_FALSE(history.runs().back().end);
    history.Add(line);
    EXPECT_EQ(history.runs().back().end, end) << line;
    EXPECT_EQ(history.runs().back().last_step, 4);
  }
}

// A run that was killed has no end; its checkpoint of step 10 is evaluated.
TEST(RunHistoryTest, AnEvaluationIsNotARunsLastStep) {
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0})");
  history.Add(R"({"event":"train","step":30})");
  for (const char* const event : {"eval", "other_eval"}) {
    history.Add(std::string(R"({"step":10,"event":")") + event + R"("})");
    EXPECT_EQ(history.runs().back().last_step, 30);
  }
}

TEST(RunHistoryTest, ACheckpointsLateEventIsNotARunsLastStep) {
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0})");
  history.Add(R"({"event":"loop","step":20})");
  history.Add(R"({"event":"checkpoint","step":10})");
  EXPECT_EQ(history.runs().back().last_step, 20);
}

TEST(RunHistoryTest, KnowsTheCheckpointsOfACourseThatWasLeft) {
  RunHistory history("nowhere");
  const auto add = [&](const std::string& event, int step) {
    history.Add(R"({"event":")" + event + R"(","step":)" +
                std::to_string(step) + "}");
  };
  add("start", 0);
  for (const int step : {10, 15, 20}) {
    add("loop", step);
    add("checkpoint", step);
  }
  EXPECT_FALSE(history.HasLeft(20));
  add("start", 10);
  EXPECT_FALSE(history.HasLeft(10));
  EXPECT_TRUE(history.HasLeft(15));
  EXPECT_TRUE(history.HasLeft(20));
  add("loop", 20);
  EXPECT_TRUE(history.HasLeft(20));  // The new one is not written yet.
  add("checkpoint", 20);
  EXPECT_FALSE(history.HasLeft(20));
  EXPECT_TRUE(history.HasLeft(15));
  add("start", 15);  // --resume 15: the course goes on from it.
  EXPECT_FALSE(history.HasLeft(15));
  EXPECT_TRUE(history.HasLeft(20));
}

TEST(RunHistoryTest, GoesOnWhereItStopped) {
  const TemporaryFolder folder;
  MetricsLog log(folder.path());
  RunHistory history(folder.path());
  history.Update();
  log.Write("train", 1, {});
  history.Update();
  log.Write("train", 2, {});
  // Half a line is read once it is whole.
  std::ofstream file(folder.path() + "/metrics.jsonl", std::ios::app);
  file << R"({"event":"train",)" << std::flush;
  history.Update();
  EXPECT_THAT(StepsOf(history), testing::ElementsAre(1, 2));
  file << R"("step":3})" << std::endl;
  history.Update();
  EXPECT_THAT(StepsOf(history), testing::ElementsAre(1, 2, 3));
}

TEST(RunHistoryTest, ForgetsWhatALaterRunDoesAgain) {
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0,"time":1})");
  for (const char* const step : {"1", "2", "3"}) {
    history.Add(std::string(R"({"event":"train","step":)") + step + "}");
  }
  history.Add(R"({"event":"eval","step":3})");
  history.Add(R"({"event":"start","step":1,"time":5})");
  history.Add(R"({"event":"train","step":2,"loss":7})");
  history.Add(R"({"event":"end","step":2,"time":9})");
  EXPECT_THAT(StepsOf(history), testing::ElementsAre(1, 2));
  EXPECT_EQ(history.steps()[1].loss, 7);
  EXPECT_TRUE(history.evaluations().empty());
  ASSERT_EQ(history.runs().size(), 2U);
  EXPECT_EQ(history.runs()[1].first_step, 1);
  EXPECT_EQ(history.runs()[1].end, RunEnd::kDone);
  EXPECT_EQ(history.runs()[1].last_time, 9);
}

TEST(RunHistoryTest, FingerprintsAreThoseOfTheNewestLoops) {
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0})");
  history.Add(
      R"({"event":"loop","step":10,"input_fingerprint":"00000000000000ff"})");
  history.Add(
      R"({"event":"loop","step":20,"input_fingerprint":"0000000000000001"})");
  // Again from step 10, with the pixels.
  history.Add(R"({"event":"start","step":10})");
  history.Add(R"({"event":"loop","step":20,"input_hash":"pixels",)"
              R"("input_fingerprint":"fedcba9876543210"})");
  for (const char* const bad :
       {"7", "null", R"("")", R"("12")", R"("0x00000000000001")",
        R"("00000000000000001")", R"("zzzzzzzzzzzzzzzz")"}) {
    history.Add(std::string(R"({"event":"loop","step":30,)") +
                R"("input_fingerprint":)" + bad + "}");
  }
  ASSERT_EQ(history.fingerprints().size(), 2U);
  EXPECT_EQ(history.fingerprints()[0].step, 10);
  EXPECT_EQ(history.fingerprints()[0].value, 0xFFU);
  EXPECT_FALSE(history.fingerprints()[0].has_pixels);
  EXPECT_EQ(history.fingerprints()[1].step, 20);
  EXPECT_EQ(history.fingerprints()[1].value, 0xFEDCBA9876543210U);
  EXPECT_TRUE(history.fingerprints()[1].has_pixels);
}

TEST(RunHistoryTest, SurvivesAnyLine) {
  RunHistory history("nowhere");
  for (const char* const line :
       {"", "{", "[]", "7", R"({"event":"train"})", R"({"step":1})",
        R"({"event":7,"step":1})", R"({"event":"train","step":"x"})",
        R"({"event":"train","step":1e9})", "\xff\xfe"}) {
    history.Add(line);
  }
  EXPECT_TRUE(history.steps().empty());
  history.Add(R"({"event":"train","step":1,"loss":null,"top_1":"a"})");
  EXPECT_TRUE(std::isnan(history.steps()[0].loss));
  EXPECT_TRUE(std::isnan(history.steps()[0].top_1));
  RunHistory of_loops("nowhere");  // Steps are left out.
  of_loops.Add(R"({"event":"loop","step":50,"loss":1})");
  EXPECT_THAT(StepsOf(of_loops), testing::ElementsAre(50));
}

}  // namespace
}  // namespace infeed
