#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <thread>

#include "base/bounded_queue.h"
#include "trainer/feed/outfeed.h"
#include "trainer/feed/step_record.h"

namespace infeed {

// Passes results from a device that writes them into the host's memory to the
// outfeed: a thread reads each record as it is written, while the loop runs.
//
//   host    Expect(s), launch s
//   device                       step s ► records[(s - 1) % size]
//   thread                                  └► Outfeed::Put(), slot is free
//
// A slot is not written again before it has been read: Expect() waits until
// then, and the step is launched afterwards. One thread at a time. After an
// exception of the outfeed, or of the device's check, every Expect() and
// Finish() throws it.
class ResultRing {
 public:
  // Requires: at least two records. They must outlive the ring. check throws
  // if the device has failed, and is called while a record is waited for, ten
  // times a second.
  explicit ResultRing(std::span<StepRecord> records,
                      std::function<void()> check = {});
  ~ResultRing() {
    abandoned_ = true;
    expected_.Cancel();
  }
  ResultRing(const ResultRing&) = delete;
  ResultRing& operator=(const ResultRing&) = delete;

  // Call it before launching the step after which `done` steps are done, > 0.
  // The outfeed gets the step's result, and must live until Finish().
  void Expect(std::int64_t done, Outfeed& outfeed);

  // Waits until the result of every step expected so far is in the outfeed.
  // Requires: the device is working on these steps.
  void Finish() {
    WaitUntilRead();
    RethrowError();
  }

  // As Finish(), for a device that is idle and may have ended before the last
  // steps expected. Returns how many of these did not run.
  [[nodiscard]] std::int64_t FinishEarly();

  // As Finish(), for a device that has stopped or failed: does not wait for
  // records that it has not written.
  void Abandon() {
    abandoned_ = true;
    WaitUntilRead();
  }

  // The number of the last step read so far. From any thread.
  [[nodiscard]] std::int64_t last_done() const { return last_done_; }

 private:
  struct Expected {
    std::int64_t done;
    Outfeed* outfeed;
  };
  void Run();
  [[nodiscard]] bool WaitFor(StepRecord& record, std::int64_t done);
  [[nodiscard]] bool HasFailed();
  void PutRecord(const Expected& expected, StepRecord& record);
  void Fail();
  void WaitUntilRead() const;
  void RethrowError() const;

  std::span<StepRecord> records_;
  std::function<void()> check_;
  BoundedQueue<Expected> expected_;
  std::int64_t put_ = 0;                  // into expected_
  std::atomic<std::int64_t> read_{0};     // records read so far
  std::atomic<std::int64_t> missing_{0};  // of these, never written
  std::atomic<bool> abandoned_ = false;
  std::atomic<std::int64_t> last_done_{0};
  bool device_failed_ = false;  // of the thread
  std::exception_ptr error_;    // set before failed_ is
  std::atomic<bool> failed_ = false;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
