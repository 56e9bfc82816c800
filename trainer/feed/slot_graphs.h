#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/model/options.h"

namespace infeed {

// Whether the loops of a device capture passes as graphs: until the device
// rejects a graph. One thread at a time.
class GraphPolicy {
 public:
  // say gets the reason for the rejection; it may be empty.
  GraphPolicy(GraphReplay replay, std::function<void(const std::string&)> say)
      : replay_(replay), say_(std::move(say)) {}

  [[nodiscard]] bool enabled() const { return replay_ != GraphReplay::kFalse; }

  // Calls capture(), and returns whether it made a graph. If it throws, graphs
  // are no longer enabled, and the reason is printed; with
  // GraphReplay::kRequired, throws IoError instead. Requires: enabled().
  [[nodiscard]] bool Try(const std::function<void()>& capture);

 private:
  GraphReplay replay_;
  std::function<void(const std::string&)> say_;
};

// A device's queue for one kind of work, on the slots of a ring. One thread at
// a time.
class GraphDevice {
 public:
  virtual ~GraphDevice() = default;

  // Enqueues the work on a slot, kernel by kernel.
  virtual void Run(int slot) = 0;
  // Captures the work on a slot as a graph, without running it. If it throws,
  // nothing has changed.
  virtual void Capture(int slot) = 0;
  // Enqueues the slot's graph. Requires: Capture(slot) has returned.
  virtual void Replay(int slot) = 0;
  // Drops all graphs.
  virtual void Drop() = 0;
};

struct SlotGraphOptions {
  int slots = 3;
  int warm_up = 3;  // passes that run before one is captured
};

// Runs the same work on the slots of a ring, repeatedly. The first passes run
// kernel by kernel, while libraries select kernels and allocate memory; then
// the work is captured once for each slot, and replayed from then on. Where the
// device rejects a graph before each slot has one, all passes run kernel by
// kernel; a later rejection of other work, as of a large evaluation, changes
// nothing. One thread at a time.
class SlotGraphs {
 public:
  // policy and device must outlive it.
  SlotGraphs(const SlotGraphOptions& options, GraphPolicy& policy,
             GraphDevice& device)
      : options_(options),
        policy_(policy),
        device_(device),
        captured_(static_cast<std::size_t>(options.slots)) {}

  // Runs the work on the slot, directly or as a graph.
  void Run(int slot);

  // The first runs that are slower than the rest.
  [[nodiscard]] int warm_up_runs() const {
    return options_.warm_up + (policy_.enabled() ? options_.slots : 0);
  }

  // Drops the captured graphs, before shapes or addresses change. Requires: no
  // pass is running.
  void Reset();

 private:
  [[nodiscard]] bool IsCaptured(int slot);

  SlotGraphOptions options_;
  GraphPolicy& policy_;
  GraphDevice& device_;
  std::vector<bool> captured_;  // by slot
  bool rejected_ = false;       // a slot's graph
  int runs_ = 0;                // before the first capture
};

}  // namespace infeed
