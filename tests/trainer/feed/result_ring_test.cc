#include "trainer/feed/result_ring.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "tests/support/throws.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// A device: writes the records of the steps that it is asked for in a thread
// of its own, and fails the test where a slot was not read.
class FakeDevice {
 public:
  explicit FakeDevice(std::vector<StepRecord>& records)
      : records_(records), thread_([this] { Run(); }) {}
  ~FakeDevice() { steps_.Close(); }

  void Launch(std::int64_t done) { steps_.Push(done); }

 private:
  void Run() {
    while (const auto done = steps_.Pop()) {
      StepRecord& record =
          records_[static_cast<std::size_t>(*done - 1) % records_.size()];
      std::atomic_ref<std::int64_t> written(record.done);
      ASSERT_EQ(written.load(std::memory_order_acquire), 0) << *done;
      record.loss = 0.5F * static_cast<float>(*done);
      record.top_1 = 0.25F;
      record.rate = 0.125F;
      record.images = 7;
      record.loss_scale = 64;
      record.skipped_steps = 3;
      written.store(*done, std::memory_order_release);
    }
  }

  std::vector<StepRecord>& records_;
  BoundedQueue<std::int64_t> steps_{1 << 20};
  std::jthread thread_;
};

TEST(ResultRingTest, HandsOutEveryStepInOrder) {
  std::vector<StepRecord> records(8);
  std::vector<StepResult> results;
  Outfeed outfeed([&](const StepResult& result) { results.push_back(result); });
  FakeDevice device(records);
  ResultRing ring(records);
  for (std::int64_t step = 1; step <= 5000; ++step) {
    ring.Expect(step, outfeed);
    device.Launch(step);
  }
  ring.Finish();
  outfeed.Drain();
  ASSERT_EQ(results.size(), 5000U);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].step, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(results[i].loss, 0.5F * static_cast<float>(i + 1));
  }
  EXPECT_EQ(results[0].top_1, 0.25F);
  EXPECT_EQ(results[0].learning_rate, 0.125F);
  EXPECT_EQ(results[0].images, 7);
  EXPECT_EQ(results[0].loss_scale, 64);
  EXPECT_EQ(results[0].skipped_steps, 3);
}

TEST(ResultRingTest, ResultsComeWhileTheLoopRuns) {
  std::vector<StepRecord> records(8);
  std::atomic<std::int64_t> seen = 0;
  Outfeed outfeed([&](const StepResult& result) {
    seen = result.step;
    seen.notify_one();
  });
  FakeDevice device(records);
  ResultRing ring(records);
  ring.Expect(1, outfeed);
  ring.Expect(2, outfeed);
  device.Launch(1);
  seen.wait(0);
  EXPECT_EQ(seen, 1);
  device.Launch(2);
  ring.Finish();
}

TEST(ResultRingTest, ReadsAStepThatIsRepeatedAnew) {
  std::vector<StepRecord> records(4);
  int results = 0;
  Outfeed outfeed([&](const StepResult&) { ++results; });
  FakeDevice device(records);
  ResultRing ring(records);
  for (int i = 0; i < 2; ++i) {
    ring.Expect(3, outfeed);
    device.Launch(3);
    ring.Finish();
  }
  outfeed.Drain();
  EXPECT_EQ(results, 2);
}

TEST(ResultRingTest, PassesOnWhatTheSinkThrew) {
  std::vector<StepRecord> records(4);
  Outfeed outfeed([](const StepResult&) -> void {
    throw std::runtime_error("the sink is full");
  });
  FakeDevice device(records);
  ResultRing ring(records);
  const auto train = [&] {
    for (std::int64_t step = 1;; ++step) {
      ring.Expect(step, outfeed);
      device.Launch(step);
    }
  };
  EXPECT_EQ(MessageOf<std::runtime_error>(train), "the sink is full");
  EXPECT_THROW(ring.Finish(), std::runtime_error);
  EXPECT_THROW((void)ring.FinishEarly(), std::runtime_error);
}

TEST(ResultRingTest, DoesNotWaitForADeviceThatFailed) {
  std::vector<StepRecord> records(4);
  std::vector<std::int64_t> results;
  Outfeed outfeed(
      [&](const StepResult& result) { results.push_back(result.step); });
  records[0] = {.done = 1, .loss = 1};  // Written before the failure.
  ResultRing ring(records);
  ring.Expect(1, outfeed);
  ring.Expect(2, outfeed);
  ring.Abandon();
  FakeDevice device(records);
  ring.Expect(3, outfeed);
  device.Launch(3);
  ring.Finish();
  outfeed.Drain();
  EXPECT_EQ(results, (std::vector<std::int64_t>{1, 3}));
}

// The loop on the device was asked to end, and did after its second step.
TEST(ResultRingTest, CountsTheStepsThatDidNotRun) {
  std::vector<StepRecord> records(8);
  std::vector<std::int64_t> results;
  Outfeed outfeed(
      [&](const StepResult& result) { results.push_back(result.step); });
  ResultRing ring(records);
  for (const std::int64_t missing : {3, 3, 0}) {  // Loop after loop.
    results.clear();
    records[0] = {.done = 1, .loss = 1};
    records[1] = {.done = 2, .loss = 1};
    for (std::int64_t step = 1; step <= 2 + missing; ++step) {
      ring.Expect(step, outfeed);
    }
    EXPECT_EQ(ring.FinishEarly(), missing);
    outfeed.Drain();
    EXPECT_EQ(results, (std::vector<std::int64_t>{1, 2}));
  }
}

TEST(ResultRingTest, EndsWhenTheDeviceHasFailed) {
  std::vector<StepRecord> records(4);
  Outfeed outfeed([](const StepResult&) {});
  records[0] = {.done = 1, .loss = 1};
  std::atomic<bool> has_failed = false;
  ResultRing ring(records, [&] {
    if (has_failed) {
      throw std::runtime_error("an illegal memory access was encountered");
    }
  });
  ring.Expect(1, outfeed);
  ring.Expect(2, outfeed);
  has_failed = true;
  EXPECT_THROW(ring.Finish(), std::runtime_error);
  EXPECT_EQ(ring.last_done(), 1);
  EXPECT_THROW(ring.Expect(3, outfeed), std::runtime_error);
  ring.Abandon();  // Does not wait.
}

// More steps than there are records: Expect() waits for the device.
TEST(ResultRingTest, WakesAHostThatWaitsForAFailedDevice) {
  std::vector<StepRecord> records(4);
  Outfeed outfeed([](const StepResult&) {});
  ResultRing ring(records, [] { throw std::runtime_error("failed"); });
  const auto train = [&] {
    for (std::int64_t step = 1;; ++step) {
      ring.Expect(step, outfeed);
    }
  };
  EXPECT_THROW(train(), std::runtime_error);
}

TEST(ResultRingDeathTest, AbortsWithOneRecord) {
  std::vector<StepRecord> records(1);
  EXPECT_DEATH(ResultRing{records}, "at least two records");
}

}  // namespace
}  // namespace infeed
