#include "pipeline/remote/worker_link.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "tests/support/matchers.h"

namespace infeed::worker_link_test {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using State = WorkerLink::State;

constexpr LinkTimes kTimes = {.tick = milliseconds(10),
                              .least_fill = seconds(10),
                              .first_retry = seconds(1),
                              .last_retry = seconds(60)};

// A link, its time, and what happens to it.
struct TestedLink {
  std::string Open(int credit = 4, bool is_checked = false) {
    link.Opening();
    return link.Opened({},
                       {.reply = {.key = 7, .credit = credit, .worker = "w"}},
                       is_checked, now, 1);
  }
  std::string FailToOpen(RpcCode code = RpcCode::kUnavailable) {
    link.Opening();
    return link.Opened({code, "why"}, OpenAnswerOf({code, "why"}, {}), false,
                       now, 1);
  }
  std::string Fail(RpcCode code) {
    return link.Failed({code, "why"}, link.openings(), now, 1);
  }
  void LendUntilFull() {
    while (link.CanTake(false, now)) {
      link.Lent();
    }
  }
  // A range that took so long, used.
  void Fill(milliseconds latency, int credit = 4) {
    link.Lent();
    link.Replied({.credit = credit}, latency);
    link.Used(true, 16, 0);
  }

  [[nodiscard]] WorkerStats stats() const { return link.stats(now); }

  WorkerLink link{0, "a:1", kTimes};
  WorkerLink::Clock::time_point now{seconds(100)};
};

TEST(WorkerLinkTest, ANewLinkIsToBeOpenedOnce) {
  TestedLink tested;
  EXPECT_TRUE(tested.link.IsToOpen(tested.now));
  tested.link.Opening();
  EXPECT_FALSE(tested.link.IsToOpen(tested.now));
  EXPECT_FALSE(tested.link.CanTake(false, tested.now));
  EXPECT_FALSE(tested.link.is_tried());
  EXPECT_THAT(tested.Open(), IsEmpty());
  EXPECT_TRUE(tested.link.is_tried());
  EXPECT_FALSE(tested.link.IsToOpen(tested.now + minutes(10)));
  EXPECT_EQ(tested.link.key(), 7U);
  EXPECT_EQ(tested.link.Title(), "worker a:1 (w)");
}

TEST(WorkerLinkTest, ItsCreditBoundsItsRanges) {
  TestedLink tested;
  (void)tested.Open(3);
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 3);
  tested.link.Replied({.credit = 5}, milliseconds(1));
  tested.link.Used(true, 16, 0);
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 5);
}

TEST(WorkerLinkTest, ACreditBelowOneIsOne) {
  TestedLink tested;
  (void)tested.Open(-2);
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 1);
}

TEST(WorkerLinkTest, ASlowOneHasOneRange) {
  TestedLink tested;
  (void)tested.Open();
  EXPECT_TRUE(tested.link.CanTake(true, tested.now));
  tested.link.Lent();
  EXPECT_FALSE(tested.link.CanTake(true, tested.now));
  EXPECT_TRUE(tested.link.CanTake(false, tested.now));
  EXPECT_TRUE(IsSlow(milliseconds(40), milliseconds(10)));
  EXPECT_FALSE(IsSlow(milliseconds(39), milliseconds(10)));
  EXPECT_FALSE(IsSlow(milliseconds(39), milliseconds(0)));
}

TEST(WorkerLinkTest, OnProbationItHasOneRangeUntilOneHasPassed) {
  TestedLink tested;
  (void)tested.Open(4, true);
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 1);
  tested.link.Replied({.credit = 4}, milliseconds(1));
  EXPECT_FALSE(tested.link.CanTake(false, tested.now)) << "it is checked yet";
  tested.link.Checked(false, 1);  // All slots were declined.
  tested.link.Used(true, 0, 16);
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 1);
  tested.link.Checked(true, 1);
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 4);
  EXPECT_EQ(tested.stats().checked, 2);
}

TEST(WorkerLinkTest, ARangeOfAnEarlierOpeningDoesNotEndProbation) {
  TestedLink tested;
  (void)tested.Open(4, true);
  tested.link.Lent();
  (void)tested.FailToOpen();
  (void)tested.Open(4, true);
  tested.link.Checked(true, 1);
  EXPECT_TRUE(tested.link.is_on_probation());
  tested.link.Checked(true, 2);
  EXPECT_FALSE(tested.link.is_on_probation());
}

TEST(WorkerLinkTest, ABusyOneGetsAsManyAsItHasAfterATick) {
  TestedLink tested;
  (void)tested.Open(4);
  tested.LendUntilFull();
  EXPECT_THAT(tested.Fail(RpcCode::kBusy), IsEmpty());
  EXPECT_THAT(tested.Fail(RpcCode::kBusy), IsEmpty());
  EXPECT_TRUE(tested.link.is_open());
  EXPECT_EQ(tested.stats().failed, 0);
  EXPECT_EQ(tested.stats().credit, 2);
  tested.link.Used(true, 16, 0);
  EXPECT_FALSE(tested.link.CanTake(false, tested.now));
  tested.now += kTimes.tick;
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.in_flight(), 2);
}

TEST(WorkerLinkTest, ALostOneIsTriedLaterAndLater) {
  TestedLink tested;
  (void)tested.Open();
  tested.link.Lent();
  EXPECT_EQ(tested.Fail(RpcCode::kUnavailable), "worker a:1 (w) was lost: why");
  for (int wait = 1; wait < 200; wait *= 2) {
    const seconds capped(std::min(wait, 60));
    EXPECT_EQ(tested.link.state(), State::kLost);
    EXPECT_FALSE(tested.link.IsToOpen(tested.now + capped - milliseconds(1)));
    tested.now += capped;
    EXPECT_TRUE(tested.link.IsToOpen(tested.now)) << wait;
    (void)tested.FailToOpen();
  }
}

TEST(WorkerLinkTest, TheWaitIsRandomised) {
  TestedLink tested;
  tested.link.Opening();
  (void)tested.link.Opened({RpcCode::kUnavailable, ""}, {}, false, tested.now,
                           0.5);
  EXPECT_FALSE(tested.link.IsToOpen(tested.now + milliseconds(499)));
  EXPECT_TRUE(tested.link.IsToOpen(tested.now + milliseconds(500)));
}

TEST(WorkerLinkTest, AReplyShortensTheWaitAgain) {
  TestedLink tested;
  for (int i = 0; i < 5; ++i) {
    (void)tested.FailToOpen();
  }
  EXPECT_EQ(tested.Open(), "worker a:1 (w) is back");
  tested.Fill(milliseconds(1));
  tested.link.Lent();
  (void)tested.Fail(RpcCode::kDeadline);
  EXPECT_TRUE(tested.link.IsToOpen(tested.now + seconds(1)));
}

TEST(WorkerLinkTest, SeveralCallsThatFailAreOneLoss) {
  TestedLink tested;
  (void)tested.Open();
  tested.LendUntilFull();
  EXPECT_THAT(tested.Fail(RpcCode::kUnavailable), HasSubstr("was lost"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(tested.Fail(RpcCode::kUnavailable), IsEmpty());
  }
  EXPECT_EQ(tested.link.in_flight(), 0);
  EXPECT_EQ(tested.stats().failed, 4);
  EXPECT_TRUE(tested.link.IsToOpen(tested.now + seconds(1)));
}

TEST(WorkerLinkTest, ACallOfAnEarlierOpeningFailsAlone) {
  TestedLink tested;
  (void)tested.Open();
  tested.LendUntilFull();
  (void)tested.Fail(RpcCode::kUnavailable);
  (void)tested.Open();
  EXPECT_THAT(tested.link.Failed({RpcCode::kDeadline, ""}, 1, tested.now, 1),
              IsEmpty());
  EXPECT_TRUE(tested.link.is_open());
}

TEST(WorkerLinkTest, AForgottenStreamIsOpenedAgainAfterATick) {
  TestedLink tested;
  (void)tested.Open();
  tested.link.Lent();
  EXPECT_THAT(tested.Fail(RpcCode::kNotOpen), IsEmpty());
  EXPECT_EQ(tested.link.state(), State::kConnecting);
  EXPECT_FALSE(tested.link.IsToOpen(tested.now));
  EXPECT_TRUE(tested.link.IsToOpen(tested.now + kTimes.tick));
  EXPECT_THAT(tested.Open(), IsEmpty());
  EXPECT_EQ(tested.link.openings(), 2);
}

TEST(WorkerLinkTest, ARefusalIsAskedAgainAfterTheLongestWait) {
  TestedLink tested;
  tested.link.Opening();
  EXPECT_EQ(tested.link.Opened({}, {.refusal = "data: a here, b there"}, true,
                               tested.now, 1),
            "worker a:1 does not take this stream: data: a here, b there");
  EXPECT_EQ(tested.link.state(), State::kRefused);
  EXPECT_FALSE(tested.link.IsToOpen(tested.now + seconds(59)));
  EXPECT_TRUE(tested.link.IsToOpen(tested.now + seconds(60)));
}

TEST(WorkerLinkTest, AFullOneIsAskedAgainAfterTheLongestWait) {
  TestedLink tested;
  EXPECT_EQ(tested.FailToOpen(RpcCode::kBusy),
            "worker a:1 does not take this stream: why");
  EXPECT_EQ(tested.link.state(), State::kFull);
  EXPECT_TRUE(tested.link.is_tried());
  EXPECT_FALSE(tested.link.IsToOpen(tested.now + seconds(59)));
  tested.now += seconds(60);
  EXPECT_TRUE(tested.link.IsToOpen(tested.now));
  EXPECT_EQ(tested.Open(), "worker a:1 (w) is back");
}

TEST(WorkerLinkTest, AnAnswerOfAnotherServiceIsARefusal) {
  EXPECT_THAT(OpenAnswerOf({RpcCode::kRefused, "m"}, {}).refusal,
              AllOf(HasSubstr("token or certificate"), HasSubstr("m")));
  EXPECT_THAT(OpenAnswerOf({RpcCode::kInvalid, ""}, {}).refusal,
              HasSubstr("cannot read"));
  EXPECT_THAT(OpenAnswerOf({RpcCode::kUnavailable, "m"}, {}).refusal,
              IsEmpty());
  const std::string text = "\xff\xff\xff HTTP/1.1 400";
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  EXPECT_THAT(OpenAnswerOf({}, {&piece, 1}).refusal,
              StartsWith("its answer is damaged: "));
}

TEST(WorkerLinkTest, ADroppedOneIsNeverOpenedAgain) {
  TestedLink tested;
  (void)tested.Open();
  tested.LendUntilFull();
  EXPECT_EQ(tested.link.Drop("it lies", tested.now),
            "worker a:1 (w) is not used any more: it lies");
  EXPECT_THAT(tested.link.Drop("again", tested.now + minutes(2)), IsEmpty());
  EXPECT_THAT(tested.Fail(RpcCode::kUnavailable), IsEmpty());
  tested.now += minutes(10);
  EXPECT_FALSE(tested.link.IsToOpen(tested.now));
  EXPECT_FALSE(tested.link.CanTake(false, tested.now));
  EXPECT_EQ(tested.stats().state, "dropped");
}

// gRPC itself says so where it lacks memory for a request, so it may pass.
TEST(WorkerLinkTest, ARangeThatItRefusesIsARefusal) {
  TestedLink tested;
  (void)tested.Open();
  tested.link.Lent();
  EXPECT_THAT(
      tested.Fail(RpcCode::kInvalid),
      HasSubstr("does not take this stream: it cannot read the request"));
  EXPECT_EQ(tested.link.state(), State::kRefused);
  tested.now += seconds(60);
  EXPECT_TRUE(tested.link.IsToOpen(tested.now));
}

TEST(WorkerLinkTest, ALineOfOneKindComesOnceAMinute) {
  TestedLink tested;
  EXPECT_THAT(tested.FailToOpen(), HasSubstr("cannot be reached: why"));
  tested.now += seconds(59);
  EXPECT_THAT(tested.FailToOpen(), IsEmpty());
  EXPECT_THAT(tested.Open(), HasSubstr("is back"));
  tested.now += seconds(1);
  EXPECT_THAT(tested.FailToOpen(), HasSubstr("cannot be reached"));
}

TEST(WorkerLinkTest, TheDeadlineFollowsTheLatency) {
  TestedLink tested;
  (void)tested.Open();
  EXPECT_EQ(tested.link.FillTimeout(), seconds(10));
  tested.Fill(seconds(2));
  EXPECT_EQ(tested.link.FillTimeout(), seconds(40));
}

TEST(WorkerLinkTest, StatisticsAddUp) {
  TestedLink tested;
  (void)tested.Open();
  tested.link.Lent();
  tested.link.Replied({.credit = 6, .cpu_nanoseconds = 500'000'000},
                      milliseconds(20));
  tested.link.Used(true, 14, 2);
  tested.link.Lent();
  tested.link.Used(false, 0, 1);
  tested.link.Lent();
  const WorkerStats stats = tested.stats();
  EXPECT_EQ(stats.address, "a:1");
  EXPECT_EQ(stats.name, "w");
  EXPECT_EQ(stats.state, "open");
  EXPECT_EQ(stats.images, 14);
  EXPECT_EQ(stats.ranges, 1);
  EXPECT_EQ(stats.declined, 3);
  EXPECT_EQ(stats.unused, 1);
  EXPECT_EQ(stats.in_flight, 1);
  EXPECT_EQ(stats.credit, 6);
  EXPECT_DOUBLE_EQ(stats.latency_seconds, 0.02);
  EXPECT_DOUBLE_EQ(stats.cpu_seconds, 0.5);
}

TEST(WorkerLinkTest, CountsTheTimeInWhichItIsOpen) {
  TestedLink tested;
  tested.now += seconds(5);
  EXPECT_EQ(tested.stats().open_seconds, 0);
  (void)tested.Open();
  tested.now += seconds(3);
  EXPECT_EQ(tested.stats().open_seconds, 3);
  tested.link.Lent();
  (void)tested.Fail(RpcCode::kUnavailable);
  tested.now += seconds(7);
  EXPECT_EQ(tested.stats().open_seconds, 3);
  (void)tested.Open();
  tested.now += seconds(2);
  EXPECT_EQ(tested.stats().open_seconds, 5);
  (void)tested.link.Drop("it lies", tested.now);
  tested.now += seconds(1);
  EXPECT_EQ(tested.stats().open_seconds, 5);
}

TEST(LinkLatenciesTest, AreOfTheLast64Ranges) {
  LinkLatencies latencies;
  EXPECT_TRUE(latencies.empty());
  for (int i = 1; i <= 100; ++i) {
    latencies.Add(milliseconds(1000));
  }
  for (int i = 1; i <= 64; ++i) {
    latencies.Add(milliseconds(i));
  }
  EXPECT_EQ(latencies.median(), milliseconds(33));
  EXPECT_EQ(latencies.p99(), milliseconds(64));
}

}  // namespace infeed::worker_link_test
