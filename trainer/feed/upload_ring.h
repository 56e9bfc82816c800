#pragma once

#include <functional>
#include <semaphore>
#include <thread>

#include "base/bounded_queue.h"
#include "pipeline/memory/batch.h"

namespace infeed {

// A device's two queues of work, for uploads: one copies batches to slots of
// the device's memory, the other computes with them. Every call but Finish()
// only enqueues work and returns.
//
// One thread at a time; `then` of NotifyCopied() may run in any thread.
class UploadStreams {
 public:
  virtual ~UploadStreams() = default;

  // Copying queue: waits for the work that the computing queue held at the last
  // MarkUsed(slot), if there was one.
  virtual void CopyAfterUse(int slot) = 0;
  // Copying queue: copies the batch's memory to the slot. The batch must live
  // until the copy has ended.
  virtual void Copy(int slot, const Batch& batch) = 0;
  // Copying queue: calls `then` once all work before it has ended. `then` must
  // not call the device.
  virtual void NotifyCopied(std::function<void()> then) = 0;

  // Computing queue: waits for the work that the copying queue holds now.
  virtual void ComputeAfterCopy() = 0;
  // Marks the current end of the computing queue as the slot's last use.
  virtual void MarkUsed(int slot) = 0;

  // Waits until the copying queue is empty or has failed. After it, no batch is
  // read and no `then` is called.
  virtual void Finish() noexcept = 0;
};

// Uploads batches to the device: a ring of slots in its memory, so that one is
// copied while the device computes with others, and the host waits for neither.
//
//   host    Upload(a)  MarkUsed  Upload(b)  MarkUsed  Upload(c) ...
//   copies  [ a to 0 ][ b to 1 ]        [ c to 0 ]
//   device            [ step on 0      ][ step on 1      ]
//                                       ^ c waited until 0 was free
//
// When a batch's copy has ended, the ring's thread returns the batch to its
// pool: the host may be waiting for a batch of the pool then. So the pool's
// size limits how far the host runs ahead of the device.
//
// One thread at a time. The destructor waits for copies in progress.
class UploadRing {
 public:
  // Requires: slots >= 2. The streams must outlive the ring.
  UploadRing(UploadStreams& streams, int slots);
  ~UploadRing();
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;

  // Enqueues the batch's copy to the next slot; work enqueued for computing
  // from now on waits for it. Returns the slot.
  [[nodiscard]] int Upload(BatchHandle batch);

  // Call it when all work on the slot uploaded last is in the computing queue.
  // Requires: no later work uses an earlier slot.
  void MarkUsed() { streams_.MarkUsed(slot_); }

  [[nodiscard]] int slots() const { return slots_; }

 private:
  void ReturnBatches();

  UploadStreams& streams_;
  int slots_;
  int slot_;  // uploaded last
  // Batches being copied, in order; at most as many as the pool has.
  BoundedQueue<BatchHandle> copying_;
  std::counting_semaphore<> copied_{0};  // batches of copying_ whose copies
                                         // have ended
  std::jthread returner_;                // Last: it uses the members above.
};

}  // namespace infeed
