#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "base/bounded_queue.h"
#include "pipeline/memory/batch.h"

namespace infeed {

// A device's two queues of work, for uploads: one copies batches to slots of
// the device's memory, the other computes with them. Every call but Finish()
// only enqueues work and returns.
//
// One thread at a time.
class UploadStreams {
 public:
  virtual ~UploadStreams() = default;

  // Copying queue: waits for the work that the computing queue held at the last
  // MarkUsed(slot), if there was one.
  virtual void CopyAfterUse(int slot) = 0;
  // Copying queue: copies the batch's memory to the slot. The batch must live
  // until the copy has ended.
  virtual void Copy(int slot, const Batch& batch) = 0;
  // Marks the current end of the copying queue. The function returned waits
  // until all work before the mark has ended, and throws if the device failed;
  // another thread calls it, once, and before Finish() has returned or later.
  [[nodiscard]] virtual std::function<void()> MarkCopied() = 0;

  // Computing queue: waits for the work that the copying queue holds now.
  virtual void ComputeAfterCopy() = 0;
  // Marks the current end of the computing queue as the slot's last use.
  virtual void MarkUsed(int slot) = 0;

  // Waits until the copying queue is empty or has failed. After it no batch is
  // read, and functions of MarkCopied() do not wait.
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
// pool: the host may be waiting for a batch of the pool then. The pool's size
// thus limits how far the host runs ahead of the device. If the device fails,
// all batches are returned, so that the host does not wait for ever, and the
// next Upload() throws.
//
// One thread at a time. The destructor waits for copies in progress.
class UploadRing {
 public:
  // Requires: slots >= 2. The streams must outlive the ring.
  UploadRing(UploadStreams& streams, int slots);
  ~UploadRing() {
    streams_.Finish();
    copying_.Close();
  }
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;

  // Enqueues the batch's copy to the next slot; work enqueued for computing
  // from now on waits for it. Returns the slot. Throws the error of the device
  // once an earlier copy has failed.
  [[nodiscard]] int Upload(BatchHandle batch);

  // Call it when all work on the slot uploaded last is in the computing queue.
  // Requires: no later work uses an earlier slot.
  void MarkUsed() { streams_.MarkUsed(slot_); }

  [[nodiscard]] int slots() const { return slots_; }

 private:
  struct Copying {
    BatchHandle batch;
    std::function<void()> wait;
  };
  void ReturnBatches();
  void WaitFor(const Copying& copying);

  UploadStreams& streams_;
  int slots_;
  int slot_;  // uploaded last
  // Batches being copied, in order; at most as many as the pool has.
  BoundedQueue<Copying> copying_;
  std::exception_ptr error_;  // of the device; set before failed_ is
  std::atomic<bool> failed_ = false;
  std::jthread returner_;  // Last: it uses the members above.
};

}  // namespace infeed
