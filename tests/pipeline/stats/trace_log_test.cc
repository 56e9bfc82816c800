#include "pipeline/stats/trace_log.h"

#include <pthread.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

json Written(const TraceLog& log) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  log.Write(path);
  return json::parse(ReadWholeFile(path, 1 << 30));
}

// The events of one kind: X, C or M.
std::vector<json> EventsOf(const json& trace, const std::string& kind) {
  std::vector<json> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == kind) {
      events.push_back(event);
    }
  }
  return events;
}

TEST(TraceLogTest, WritesSpansToTheNanosecond) {
  TraceLog log;
  const auto start = TraceLog::Clock::now();
  log.Span("decode", start, start + nanoseconds(1'002'003),
           {.epoch = 1, .position = 20, .batch = 3});
  log.Span("resize", start + nanoseconds(5), start + nanoseconds(5), {});
  const std::vector<json> spans = EventsOf(Written(log), "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["name"], "decode");
  EXPECT_EQ(spans[0]["dur"], 1002.003);
  EXPECT_GE(spans[0]["ts"], 0);
  EXPECT_NEAR(spans[1]["ts"].get<double>() - spans[0]["ts"].get<double>(),
              0.005, 1e-6);
  EXPECT_EQ(spans[1]["dur"], 0);
  EXPECT_EQ(spans[0]["args"],
            json({{"epoch", 1}, {"position", 20}, {"batch", 3}}));
}

TEST(TraceLogTest, WritesCountsAndTheStepOfATrainingsSpan) {
  TraceLog log;
  log.Count("ready", TraceLog::Clock::now(), 7);
  log.Span("loop", {}, {}, {.step = 7});
  const json trace = Written(log);
  const std::vector<json> counts = EventsOf(trace, "C");
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0]["name"], "ready");
  EXPECT_EQ(counts[0]["args"], json({{"count", 7}}));
  EXPECT_EQ(EventsOf(trace, "X")[0]["args"], json({{"step", 7}}));
}

TEST(TraceLogTest, WritesEventsOfOthersToo) {
  const TemporaryFolder folder;
  TraceLog log;
  log.Span("step", log.started() + nanoseconds(2000),
           log.started() + nanoseconds(3000), {});
  log.Write(folder / "trace.json", {}, 1, [](AtomicFile& file) {
    file.Write(R"(,{"name":"mm","ph":"X","ts":1})");
  });
  const std::vector<json> spans =
      EventsOf(json::parse(ReadWholeFile(folder / "trace.json", 1 << 20)), "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["ts"], 2);
  EXPECT_EQ(spans[0]["cat"], "infeed");
  EXPECT_EQ(spans[1]["name"], "mm");
}

TEST(TraceLogTest, NamesThreads) {
  TraceLog log;
  std::jthread([&log] {
    ::pthread_setname_np(::pthread_self(), "a \"b\" \n");
    log.Count("ready", TraceLog::Clock::now(), 1);
  }).join();
  const json trace = Written(log);
  const std::vector<json> names = EventsOf(trace, "M");
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0]["name"], "process_name");
  EXPECT_EQ(names[1]["name"], "thread_name");
  EXPECT_EQ(names[1]["args"]["name"], "a ?b? ?");
  EXPECT_EQ(names[1]["tid"], EventsOf(trace, "C")[0]["tid"]);
}

TEST(TraceLogTest, KeepsThreadsApartAndLosesNothing) {
  TraceLog log;
  constexpr int kThreads = 4;
  constexpr int kSpans = 3000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < kSpans; ++i) {
          const auto now = TraceLog::Clock::now();
          log.Span("read", now, now, {.position = i});
        }
      });
    }
    (void)log.Read();  // While they write.
  }
  std::size_t events = 0;
  for (const TraceLog::Thread& thread : log.Read()) {
    events += thread.events.size();
  }
  EXPECT_EQ(events, kThreads * kSpans);
  EXPECT_EQ(log.dropped(), 0);
}

TEST(TraceLogTest, DropsAndCountsWhatIsTooMuch) {
  for (const int most : {0, 1500}) {
    TraceLog log(most);
    for (int i = 0; i < most + 10; ++i) {
      log.Count("ready", TraceLog::Clock::now(), i);
    }
    const std::vector<json> counts = EventsOf(Written(log), "C");
    EXPECT_EQ(std::ssize(counts), most);
    EXPECT_TRUE(most == 0 || counts.back()["args"]["count"] == most - 1);
    EXPECT_EQ(log.dropped(), 10);
    EXPECT_EQ(Written(log)["otherData"]["dropped_events"], "10");
  }
}

// A thread's block of one log must not be used for the next log.
TEST(TraceLogTest, ALogIsNotMistakenForAnEarlierOne) {
  for (int i = 0; i < 3; ++i) {
    TraceLog first;
    TraceLog second;
    first.Count("ready", TraceLog::Clock::now(), 1);
    second.Count("ready", TraceLog::Clock::now(), 2);
    first.Count("ready", TraceLog::Clock::now(), 3);
    EXPECT_EQ(first.Read()[0].events.size(), 2U);
    EXPECT_EQ(second.Read()[0].events.size(), 1U);
  }
}

TEST(TraceLogTest, KeepsNothingWhilePaused) {
  TraceLog log;
  log.Count("ready", {}, 1);
  log.Pause();
  log.Count("ready", {}, 2);
  EXPECT_EQ(log.Read()[0].events.size(), 1U);
}

TEST(TraceLogTest, ForgetsAllAndHasRoomAgainWhenItRestarts) {
  TraceLog log(2);
  for (int i = 0; i < 3; ++i) {
    log.Count("ready", {}, i);
  }
  log.Pause();
  log.Restart();
  EXPECT_EQ(log.dropped(), 0);
  EXPECT_TRUE(log.Read().empty());
  log.Count("ready", {}, 7);
  log.Count("ready", {}, 8);
  ASSERT_EQ(log.Read()[0].events.size(), 2U);
  EXPECT_EQ(log.Read()[0].events[0].count, 7);
}

TEST(TraceLogTest, RestartsWhileOthersWrite) {
  TraceLog log;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&log] {
      for (int i = 0; i < 5000; ++i) {
        log.Count("ready", TraceLog::Clock::now(), i);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    log.Restart();
    for (const TraceLog::Thread& thread : log.Read()) {
      EXPECT_LE(thread.events.size(), 5000U);
    }
  }
  threads.clear();
  EXPECT_EQ(log.dropped(), 0);
}

TEST(TraceLogTest, WritesWhatLiesInAWindow) {
  TraceLog log;
  const auto start = TraceLog::Clock::now();
  const auto at = [&](int ns) { return start + nanoseconds(ns); };
  log.Span("read", at(0), at(10), {});
  log.Span("decode", at(5), at(25), {});
  log.Span("resize", at(30), at(35), {});
  const TemporaryFolder folder;
  log.Write(folder / "trace.json", {.from = at(20), .to = at(30)});
  const std::vector<json> spans =
      EventsOf(json::parse(ReadWholeFile(folder / "trace.json", 1 << 20)), "X");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0]["name"], "decode");
}

TEST(TraceLogTest, SaysWhereItCannotWrite) {
  EXPECT_THAT(
      MessageOf<IoError>([] { TraceLog().Write("/nowhere/trace.json"); }),
      StartsWith("/nowhere/trace.json"));
}

TEST(TraceSpanTest, ASpanWithoutALogIsDropped) {
  TraceSpan(nullptr, "read", {}, {}, {});
  TraceLog log;
  TraceSpan(&log, "read", {}, {}, {});
  EXPECT_EQ(log.Read()[0].events.size(), 1U);
}

}  // namespace
}  // namespace infeed
