#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <span>
#include <thread>

#include "base/bounded_queue.h"
#include "trainer/feed/outfeed.h"
#include "trainer/feed/step_record.h"

namespace infeed {

// The way of results from a device that writes them where the host sees them:
// a thread reads each record as it is written and puts it into the outfeed
// while the loop runs.
//
//   host    Expect(s), launch s
//   device                       step s ► records[(s - 1) % size]
//   thread                                  └► Outfeed::Put(), slot is free
//
// No slot is written before it was read: Expect() waits for that, and nothing
// is launched before it. One thread at a time. An exception of the outfeed
// comes out of the next Expect() or Finish(), and of each one after that.
class ResultRing {
 public:
  // Requires: at least two records. They must outlive it.
  explicit ResultRing(std::span<StepRecord> records);
  ~ResultRing();
  ResultRing(const ResultRing&) = delete;
  ResultRing& operator=(const ResultRing&) = delete;

  // Says that the device is going to be asked for the step after which `done`
  // are done, > 0. The outfeed gets its result, and must live until Finish().
  void Expect(std::int64_t done, Outfeed& outfeed);

  // Waits until every step expected so far has been read and put. The device
  // must be at work on them.
  void Finish();

  // The same where the device is at work no more, or has failed: does not wait
  // for what it has not written.
  void Abandon();

 private:
  struct Expected {
    std::int64_t done;
    Outfeed* outfeed;
  };
  void Run();
  [[nodiscard]] bool WaitFor(StepRecord& record, std::int64_t done) const;
  void PutRecord(const Expected& expected, StepRecord& record);
  void WaitUntilRead() const;
  void RethrowError() const;

  std::span<StepRecord> records_;
  BoundedQueue<Expected> expected_;
  std::int64_t put_ = 0;               // into expected_
  std::atomic<std::int64_t> read_{0};  // of those
  std::atomic<bool> abandoned_ = false;
  std::exception_ptr error_;  // of the outfeed; set before failed_ is
  std::atomic<bool> failed_ = false;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
