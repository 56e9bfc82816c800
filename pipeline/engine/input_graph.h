#pragma once

#include <functional>
#include <memory>

#include "pipeline/engine/open_batch.h"
#include "pipeline/engine/slot_filler.h"

namespace infeed {

struct InputGraphOptions {
  // That work; 0: the caller's alone, one sample after the other in Put().
  int threads = 1;
  // Neighbours that a worker fills one after the other: what the graph costs is
  // shared by them. > 0
  int slots_per_task = 1;
};

// The flow graph: takes batches apart into ranges of slots, works on them in
// parallel and gives the batches back whole and in order.
//
//   Put ► waiting ► read, decode, resize, pack ─► in order ► deliver
//          (queue)  `threads` ranges at once      (last slot)
//
// All that is done for a sample is one node, as its bytes and rows are in the
// worker's cache then, and there is nothing to hand over and to bound.
// What waits is bounded by the batches that the caller puts; in flight is one
// sample for each thread.
//
// The work is done by exactly `threads` threads of its own (closed_arena.h).
// Without any there is no graph: Put() reads and fills slot by slot and
// delivers, with nothing overlapped.
//
// Batches must stay until they are delivered. Put() from one thread; deliver is
// called by one worker at a time, in the order of Put(). Nothing throws.
class InputGraph {
 public:
  using Deliver = std::function<void(OpenBatch&)>;

  // Requires: filler outlives it.
  InputGraph(SlotFiller& filler, const InputGraphOptions& options,
             Deliver deliver);
  // Waits until all that was put is delivered.
  ~InputGraph();
  InputGraph(const InputGraph&) = delete;
  InputGraph& operator=(const InputGraph&) = delete;

  // Puts a batch in; does not wait where there are threads. Requires: begun,
  // numbered from 0 without a gap.
  void Put(OpenBatch& batch);

 private:
  class Impl;
  class Flow;
  class Basic;
  std::unique_ptr<Impl> impl_;
};

}  // namespace infeed
