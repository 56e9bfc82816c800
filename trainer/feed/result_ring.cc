#include "trainer/feed/result_ring.h"

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// A device can write to the host's memory but cannot wake its threads: the
// reader polls with this period. A step takes milliseconds.
constexpr std::chrono::microseconds kPause{100};
constexpr int kPausesPerCheck = 1000;

std::size_t CheckedSize(std::span<StepRecord> records) {
  Check(records.size() >= 2, "a ring has at least two records");
  return records.size();
}

}  // namespace

// One less than the records: the record that the thread waits for is no longer
// in the queue.
ResultRing::ResultRing(std::span<StepRecord> records,
                       std::function<void()> check)
    : records_(records),
      check_(std::move(check)),
      expected_(CheckedSize(records) - 1),
      thread_([this] { Run(); }) {}

void ResultRing::Run() {
  (void)::pthread_setname_np(::pthread_self(), "result ring");
  while (const std::optional<Expected> expected = expected_.Pop()) {
    const auto slot = static_cast<std::size_t>(expected->done - 1);
    StepRecord& record = records_[slot % records_.size()];
    if (WaitFor(record, expected->done)) {
      PutRecord(*expected, record);
    } else {
      ++missing_;
    }
    read_.fetch_add(1, std::memory_order_release);
    read_.notify_one();
  }
}

bool ResultRing::WaitFor(StepRecord& record, std::int64_t done) {
  for (int pauses = 1; !IsWritten(record, done); ++pauses) {
    if (abandoned_ || device_failed_ ||
        (pauses % kPausesPerCheck == 0 && HasFailed())) {
      return false;
    }
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

bool ResultRing::HasFailed() {
  try {
    if (check_) {
      check_();
    }
  } catch (...) {
    device_failed_ = true;
    Fail();
  }
  return device_failed_;
}

// Keeps the exception being handled, if it is the first.
void ResultRing::Fail() {
  if (!failed_) {
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
}

void ResultRing::PutRecord(const Expected& expected, StepRecord& record) {
  const StepResult result = {
      .step = expected.done,
      .loss = record.loss,
      .top_1 = record.top_1,
      .learning_rate = record.rate,
      .images = static_cast<std::int64_t>(record.images),
      .loss_scale = record.loss_scale,
      .skipped_steps = static_cast<std::int64_t>(record.skipped_steps)};
  record.done = 0;  // After a state is loaded, the same step may run again.
  last_done_ = expected.done;
  if (failed_) {
    return;
  }
  try {
    expected.outfeed->Put(result);
  } catch (...) {
    Fail();
  }
}

void ResultRing::RethrowError() const {
  if (failed_.load(std::memory_order_acquire)) {
    std::rethrow_exception(error_);
  }
}

void ResultRing::Expect(std::int64_t done, Outfeed& outfeed) {
  RethrowError();
  abandoned_ = false;
  expected_.Push({done, &outfeed});
  ++put_;
}

void ResultRing::WaitUntilRead() const {
  for (std::int64_t read = read_.load(std::memory_order_acquire); read < put_;
       read = read_.load(std::memory_order_acquire)) {
    read_.wait(read, std::memory_order_acquire);
  }
}

std::int64_t ResultRing::FinishEarly() {
  const std::int64_t before = missing_;
  abandoned_ = true;
  WaitUntilRead();
  RethrowError();
  return missing_ - before;
}

}  // namespace infeed
