#pragma once

#include <functional>
#include <semaphore>
#include <thread>

#include "base/bounded_queue.h"
#include "pipeline/memory/batch.h"

namespace infeed {

// A device's two queues of work, as uploads need them: one copies batches to
// slots of the device's memory, the other computes with them. Every call but
// Finish() only puts something in and returns.
//
// One thread at a time; `then` of NotifyCopied() runs in whatever thread.
class UploadStreams {
 public:
  virtual ~UploadStreams() = default;

  // Into the copying queue: wait until what the other queue held at the last
  // MarkUsed(slot) has ended; nothing where there was none.
  virtual void CopyAfterUse(int slot) = 0;
  // Into it: the batch's memory goes to the slot. The batch must live until
  // that has ended.
  virtual void Copy(int slot, const Batch& batch) = 0;
  // Into it: call `then` once all before has ended. It calls nothing of the
  // device.
  virtual void NotifyCopied(std::function<void()> then) = 0;

  // Into the computing queue: wait until what the copying queue holds now has
  // ended.
  virtual void ComputeAfterCopy() = 0;
  // Says that the last use of the slot is in the computing queue now.
  virtual void MarkUsed(int slot) = 0;

  // Waits until the copying queue is empty, or has failed: nothing is read any
  // more, and no `then` is called.
  virtual void Finish() noexcept = 0;
};

// The way of batches to the device: a ring of slots in its memory, so that one
// is copied while others are computed with, and the host waits for neither.
//
//   host    Upload(a)  MarkUsed  Upload(b)  MarkUsed  Upload(c) ...
//   copies  [ a to 0 ][ b to 1 ]        [ c to 0 ]
//   device            [ step on 0      ][ step on 1      ]
//                                       ^ c waited until 0 was free
//
// A batch goes back to its pool when its copy has ended, by a thread of the
// ring's: the host may be waiting for the pool's next batch then. So the pool
// is what bounds how far the host runs ahead of the device.
//
// One thread at a time. The destructor waits for the copies under way.
class UploadRing {
 public:
  // Requires: slots >= 2. The streams must outlive it.
  UploadRing(UploadStreams& streams, int slots);
  ~UploadRing();
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;

  // Has the batch copied to the next slot, and what is put into the computing
  // queue from now on wait for it. Returns the slot.
  [[nodiscard]] int Upload(BatchHandle batch);

  // Says that all work on the slot uploaded last is in the computing queue.
  // Requires: nothing uses an earlier one any more.
  void MarkUsed() { streams_.MarkUsed(slot_); }

  [[nodiscard]] int slots() const { return slots_; }

 private:
  void ReturnBatches();

  UploadStreams& streams_;
  int slots_;
  int slot_;  // uploaded last
  // In the order of their copies; as many as the pool has.
  BoundedQueue<BatchHandle> copying_;
  std::counting_semaphore<> copied_{0};  // those of them whose copies ended
  std::jthread returner_;                // Last: it uses the members above.
};

}  // namespace infeed
