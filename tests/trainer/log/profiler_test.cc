#include "trainer/log/profiler.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

using std::chrono_literals::operator""ms;
using nlohmann::json;

// A device whose recording ends when somebody says so.
class FakeRecorder : public DeviceRecorder {
 public:
  void Begin() override { begun = true; }
  bool RequestEnd() override { return ended; }
  DeviceRecord End() override {
    begun = false;
    return {.window = {.from = {}, .to = TraceLog::Clock::time_point(10ms)},
            .names = {"aten::mm"},
            .operations = {{.start = TraceLog::Clock::time_point(2ms),
                            .length = 4ms}},
            .problem = problem};
  }

  bool begun = false;
  bool ended = false;
  std::string problem;
};

class ProfilerTest : public testing::Test {
 protected:
  [[nodiscard]] Profiler Make(ProfilerOptions options,
                              TraceLog* shared = nullptr) {
    options.model_dir = folder_.path();
    options.duration = 100ms;
    return {options, shared, [this] { return now_; }};
  }
  // A span of the newest 10 ms.
  void Add(TraceLog* log, std::string_view name) {
    log->Span(name, now_ - 10ms, now_, {.step = 1});
  }
  // The spans' names in a profile's file.
  [[nodiscard]] static std::vector<std::string> Names(const Profile& profile) {
    std::vector<std::string> names;
    const json trace = json::parse(ReadWholeFile(profile.path, 1 << 20));
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "X") {
        names.push_back(event["name"]);
      }
    }
    return names;
  }

  TemporaryFolder folder_;
  TraceLog::Clock::time_point now_ = TraceLog::Clock::now();
};

TEST_F(ProfilerTest, TracesNothingWhereNobodyAsks) {
  Profiler profiler = Make({});
  EXPECT_EQ(profiler.trace(), nullptr);
  profiler.BeginIfDue(1000);
  EXPECT_EQ(profiler.End(), std::nullopt);
}

TEST_F(ProfilerTest, BeginsAtTheEndOfALoopAndEndsInTime) {
  Profiler profiler = Make({.every_n_steps = 10, .first_step = 5});
  Add(profiler.trace(), "early");
  profiler.BeginIfDue(14);
  EXPECT_EQ(profiler.EndIfDue(), std::nullopt);
  profiler.BeginIfDue(15);
  now_ += 99ms;
  Add(profiler.trace(), "input wait");
  EXPECT_EQ(profiler.EndIfDue(), std::nullopt);
  now_ += 1ms;
  const std::optional<Profile> profile = profiler.EndIfDue();
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->path,
            folder_ / "plugins/profile/00000015/train_resnet.pt.trace.json");
  EXPECT_EQ(profile->step, 15);
  EXPECT_DOUBLE_EQ(profile->seconds, 0.1);
  EXPECT_DOUBLE_EQ(profile->shares.input_wait, 0.1);
  EXPECT_DOUBLE_EQ(profile->shares.device(), 0.9);
  EXPECT_THAT(Names(*profile),
              testing::ElementsAre("input wait",
                                   "enumerate(DataLoader)#infeed.__next__"));
}

// What TensorBoard's page of PyTorch's profiles takes for steps and their
// input.
TEST_F(ProfilerTest, MarksWholeStepsWithTheirWaits) {
  Profiler profiler = Make({.every_n_steps = 1});
  profiler.BeginIfDue(1);
  const TraceLog::Clock::time_point begun = now_;
  const auto add = [&](std::string_view name, auto from, auto to,
                       std::int64_t batch) {
    profiler.trace()->Span(name, begun + from, begun + to, {.batch = batch});
  };
  add("step", -1ms, 2ms, 6);  // began before
  add("input wait", 2ms, 3ms, 7);
  add("batch", 2ms, 3ms, 7);
  add("step", 3ms, 9ms, 7);
  add("input wait", 9ms, 10ms, 8);
  add("step", 10ms, 21ms, 8);  // ends after the profile
  now_ += 20ms;
  std::map<std::string, double> marks;  // length in us
  const json trace = json::parse(ReadWholeFile(profiler.End()->path, 1 << 20));
  for (const json& event : trace["traceEvents"]) {
    if (event.value("cat", "") == "cpu_op") {
      marks[event["name"]] += event["dur"].get<double>();
    }
  }
  EXPECT_THAT(marks, testing::UnorderedElementsAre(
                         testing::Pair("ProfilerStep#7",
                                       testing::DoubleNear(7000, 0.01)),
                         testing::Pair("enumerate(DataLoader)#infeed.__next__",
                                       testing::DoubleNear(2000, 0.01))));
}

TEST_F(ProfilerTest, DoesNotBeginWhileOneLasts) {
  Profiler profiler = Make({.every_n_steps = 1});
  profiler.BeginIfDue(1);
  profiler.BeginIfDue(2);
  EXPECT_EQ(profiler.End()->step, 1);
  profiler.BeginIfDue(3);
  Add(profiler.trace(), "step");
  EXPECT_EQ(profiler.End()->step, 3);
}

// A shared trace log keeps all of its spans.
TEST_F(ProfilerTest, LeavesALogOfOthersAsItIs) {
  TraceLog log;
  Profiler profiler = Make({.every_n_steps = 1}, &log);
  EXPECT_EQ(profiler.trace(), &log);
  Add(&log, "early");
  now_ += 50ms;
  profiler.BeginIfDue(1);
  now_ += 50ms;
  Add(&log, "step");
  EXPECT_THAT(Names(*profiler.End()),
              testing::ElementsAre("step", "ProfilerStep#0"));
  Add(&log, "late");
  EXPECT_EQ(log.Read()[0].events.size(), 3U);
}

TEST_F(ProfilerTest, EndsOnceTheDevicesRecordHasEnded) {
  FakeRecorder device;
  Profiler profiler = Make({.every_n_steps = 1, .device = &device});
  EXPECT_FALSE(device.begun);
  profiler.BeginIfDue(1);
  EXPECT_TRUE(device.begun);
  device.ended = true;
  EXPECT_EQ(profiler.EndIfDue(), std::nullopt);
  device.ended = false;
  now_ += 100ms;
  EXPECT_EQ(profiler.EndIfDue(), std::nullopt);
  EXPECT_TRUE(device.begun);
  device.ended = true;
  const std::optional<Profile> profile = profiler.EndIfDue();
  ASSERT_TRUE(profile);
  EXPECT_FALSE(device.begun);
  EXPECT_THAT(Names(*profile), testing::ElementsAre("aten::mm"));
  EXPECT_DOUBLE_EQ(profile->totals.busy, 0.4);
  EXPECT_THAT(OperationsTable(*profile),
              testing::AllOf(testing::HasSubstr("<td>aten::mm</td>"),
                             testing::HasSubstr("4.00"),
                             testing::HasSubstr("40.0 % of the time")));
}

TEST_F(ProfilerTest, EndsAfterALoopWhereTheDeviceHasNot) {
  FakeRecorder device;
  Profiler profiler = Make({.every_n_steps = 1, .device = &device});
  profiler.BeginIfDue(1);
  EXPECT_EQ(profiler.EndAfterLoopIfDue(), std::nullopt);
  now_ += 100ms;
  EXPECT_EQ(profiler.EndIfDue(), std::nullopt);
  EXPECT_TRUE(profiler.EndAfterLoopIfDue());
  EXPECT_FALSE(device.begun);
}

TEST_F(ProfilerTest, TellsOnceWhatItCannotRecord) {
  FakeRecorder device;
  device.problem = "no profiler";
  Profiler profiler = Make({.every_n_steps = 1, .device = &device});
  profiler.BeginIfDue(1);
  EXPECT_EQ(profiler.End()->problem, "no profiler");
  profiler.BeginIfDue(2);
  EXPECT_EQ(profiler.End()->problem, "");
}

TEST_F(ProfilerTest, CountsWhatLiesInTheProfilesTime) {
  const auto span = [&](std::string_view name, int from, int to) {
    return TraceEvent{.name = name,
                      .start = now_ + std::chrono::milliseconds(from),
                      .length = std::chrono::milliseconds(to - from)};
  };
  const ProfileShares shares = ComputeShares(
      {{.id = 1,
        .name = "a",
        .events = {span("input wait", -50, 20), span("step", 20, 90),
                   span("checkpoint", 90, 200)}},
       {.id = 2, .name = "b", .events = {span("evaluation", 40, 90)}}},
      {.from = now_, .to = now_ + 100ms});
  EXPECT_DOUBLE_EQ(shares.input_wait, 0.2);
  EXPECT_DOUBLE_EQ(shares.checkpoints, 0.1);
  EXPECT_DOUBLE_EQ(shares.evaluations, 0.5);
  EXPECT_NEAR(shares.device(), 0.2, 1e-9);
}

}  // namespace
}  // namespace infeed
