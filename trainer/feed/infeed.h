#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/bounded_queue.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/stats/trace_log.h"

namespace infeed {

// Where an infeed's batches come from: a pipeline, or made ones.
struct BatchSource {
  // Returns the next batch, or nullptr at the end.
  std::function<BatchHandle()> next = {};
  // Wakes a next() that waits in another thread; it may be empty.
  std::function<void()> stop = {};
  // Of the first batch.
  StreamPosition start = {};
  // Gets the spans of waits and steps; may be null, and outlives the infeed.
  TraceLog* trace = nullptr;
};

// The queue between the input engine and the device: a thread of its own takes
// batches from the pipeline ahead of the loop, so that a step finds its batch
// waiting. An error of the pipeline comes out of Next() after the last good
// batch.
//
// The pipeline must outlive it, and is stopped by its destructor. Next() and
// the accessors from one thread at a time; Stop() from any thread.
class Infeed {
 public:
  // Requires: depth >= 1, and the pipeline's pool holds depth + 2 batches.
  Infeed(InputPipeline& pipeline, int batch_size, int image_size, int depth = 2)
      : Infeed(BatchSource{.next = [&pipeline] { return pipeline.Next(); },
                           .stop = [&pipeline] { pipeline.Stop(); },
                           .start = pipeline.position()},
               batch_size, image_size, depth) {}
  Infeed(BatchSource source, int batch_size, int image_size, int depth = 2);
  ~Infeed();
  Infeed(const Infeed&) = delete;
  Infeed& operator=(const Infeed&) = delete;

  // Waits for the next batch; nullptr at the end of the stream. A batch of
  // another shape than is expected is refused (a UsageError).
  [[nodiscard]] BatchHandle Next();

  // Says that the step on the batch handed out last has ended, where no Next()
  // follows at once: for the trace.
  void EndStep();

  // Of every batch, in pixels; from the thread of Next(), batches may be
  // expected to have another from the next one on.
  [[nodiscard]] int image_size() const { return image_size_; }
  void ExpectImageSize(int image_size) { image_size_ = image_size; }

  // Asks for an end after the step at hand, where ranks must agree on it: the
  // device loop tells the others. From any thread.
  void RequestEnd() { end_requested_ = true; }
  [[nodiscard]] bool end_requested() const { return end_requested_; }

  // Ends the stream: batches not yet taken are dropped, and Next() returns
  // nullptr from now on.
  void Stop();

  // Shows the first batch to somebody, in the thread that calls Next() and
  // before it returns. Requires: Next() has not been called yet.
  void ShowFirst(std::function<void(const Batch&)> show) {
    show_first_ = std::move(show);
  }

  // Where the stream goes on after the last batch that Next() returned: what a
  // checkpoint stores. The pipeline's own position is ahead of it.
  [[nodiscard]] StreamPosition position() const { return position_; }

  // Says that from now on it is not Next() that counts how long the device
  // waits, but AddWait(), in seconds: a host that is ahead of its device waits
  // for other reasons. From the thread of Next().
  void LeaveWaitsToDevice() { device_counts_ = true; }
  void AddWait(double seconds) { wait_seconds_ += seconds; }

  // How long the device waited in all for its input; and Next() for its first
  // batch alone, which counts in any case. From any thread.
  [[nodiscard]] double wait_seconds() const { return wait_seconds_; }
  [[nodiscard]] double first_wait_seconds() const {
    return first_wait_seconds_;
  }

 private:
  void Run();

  BatchSource source_;
  int batch_size_;
  int image_size_;
  StreamPosition position_;
  std::atomic<double> wait_seconds_{0};
  std::atomic<double> first_wait_seconds_{0};
  std::atomic<bool> end_requested_{false};
  bool asked_ = false;          // for a batch, before
  bool device_counts_ = false;  // wait_seconds_
  std::optional<TraceLog::Clock::time_point> step_start_;
  TracePlace step_place_;
  std::function<void(const Batch&)> show_first_;
  BoundedQueue<BatchHandle> queue_;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
