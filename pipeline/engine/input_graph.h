#pragma once

#include <functional>
#include <memory>

#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/slots/slot_filler.h"

namespace infeed {

struct InputGraphOptions {
  // Worker threads; 0: the caller's thread fills one sample after the other in
  // Put().
  int threads = 1;
  // Neighbouring slots in one task: a worker fills them one after the other,
  // and they share the graph's cost per task. 1 to 64
  int slots_per_task = 1;
};

// The flow graph: splits batches into ranges of slots, fills the ranges in
// parallel and delivers the batches whole and in order.
//
//   Put ► waiting ► read, decode, resize, pack ─► in order ► deliver
//       (RangeQueue) `threads` ranges at once     (last slot)
//            └────► links, if there are any ─────────┘
//                   (range_lender.h)
//
// One node does all the work on a sample: the sample's bytes and rows stay in
// the worker's cache, and no queue between stages has to be bounded. The
// waiting samples are bounded by the batches that the caller puts; one sample
// per thread is in flight.
//
// The work is done by exactly `threads` threads of its own (closed_arena.h).
// With 0 threads there is no graph: Put() reads and fills slot by slot and
// delivers the batch; nothing overlaps.
//
// A batch must live until it is delivered. Put() from one thread; deliver is
// called by one worker at a time, in the order of Put(). Nothing throws.
class InputGraph {
 public:
  using Deliver = std::function<void(OpenBatch&)>;

  // Requires: filler outlives it.
  InputGraph(SlotFiller& filler, const InputGraphOptions& options,
             Deliver deliver);
  // Waits until all batches put are delivered. What links have not returned,
  // the graph's threads fill. Requires: the links have ended.
  ~InputGraph();
  InputGraph(const InputGraph&) = delete;
  InputGraph& operator=(const InputGraph&) = delete;

  // Puts a batch into the graph; with threads > 0 it does not wait. Requires:
  // the batch is begun; batches are numbered from 0 without a gap.
  void Put(OpenBatch& batch);

  // Lends ranges, until the filler is cancelled; null with 0 threads.
  [[nodiscard]] RangeLender* lender();

 private:
  struct Flow;

  SlotFiller& filler_;
  const Deliver deliver_;
  // One of them: the caller's sample with 0 threads, else the threads' nodes.
  std::unique_ptr<Sample> sample_;
  std::unique_ptr<Flow> flow_;
};

}  // namespace infeed
