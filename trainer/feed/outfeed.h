#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "base/bounded_queue.h"

namespace infeed {

// The device's report of one training step.
struct StepResult {
  std::int64_t step = 0;           // from 1: the number of updates done
  float loss = 0;                  // mean cross-entropy + L2 term
  float top_1 = 0;                 // fraction of the batch's images
  float learning_rate = 0;         // the rate of the update
  std::int64_t images = 0;         // images of weight 1 whose label is a class
  float loss_scale = 0;            // after this step; 0: the loss is not scaled
  std::int64_t skipped_steps = 0;  // of the training so far
};

// The queue of results from the device: the device puts each step's result into
// it as the step ends, and the outfeed's thread passes the results, in order,
// to the sink while the loop runs.
//
// Put() and Drain() from one thread at a time; the sink runs in the outfeed's
// thread. After an exception of the sink, every Put() and Drain() throws it;
// the sink is not called again.
class Outfeed {
 public:
  using Sink = std::function<void(const StepResult&)>;

  explicit Outfeed(Sink sink);
  ~Outfeed();
  Outfeed(const Outfeed&) = delete;
  Outfeed& operator=(const Outfeed&) = delete;

  void Put(const StepResult& result);

  // Waits until the sink has seen every result put so far.
  void Drain();

 private:
  void Run();

  Sink sink_;
  BoundedQueue<StepResult> queue_;
  std::int64_t put_ = 0;               // results put so far
  std::atomic<std::int64_t> seen_{0};  // by the sink; kFailed once it threw
  std::exception_ptr error_;           // of the sink; set before kFailed is
  std::jthread thread_;                // Last: it uses the members above.
};

}  // namespace infeed
