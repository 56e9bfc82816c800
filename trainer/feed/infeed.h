#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/stats/trace_log.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// How far a device has come in a stream.
struct FeedMark {
  StreamPosition position = {};   // after the last batch
  std::uint64_t fingerprint = 0;  // the sum of all batches' so far
};

// The device's view of a stream, which makes its batches ahead of the loop:
// checks their shape, and counts how long the device waited for them. Next()
// throws an error of the stream after the last good batch.
//
// The destructor stops the stream. Next() and the accessors from one thread at
// a time; Stop() from any thread.
class Infeed {
 public:
  // trace gets the spans of waits and steps; it may be null, and must outlive
  // the infeed.
  Infeed(std::shared_ptr<BatchStream> stream, int batch_size,
         const ImageSize& image_size, TraceLog* trace = nullptr);
  ~Infeed();
  Infeed(const Infeed&) = delete;
  Infeed& operator=(const Infeed&) = delete;

  // Waits for the next batch; nullptr at the end of the stream. Throws
  // UsageError for a batch of another shape than expected.
  [[nodiscard]] BatchHandle Next();

  // Call it when the step on the last batch has ended and no Next() follows at
  // once: for the trace.
  void EndStep();

  // The image size of every batch. ExpectImageSize() changes it from the next
  // batch on; call it from the thread of Next().
  [[nodiscard]] const ImageSize& image_size() const { return image_size_; }
  void ExpectImageSize(const ImageSize& image_size) {
    image_size_ = image_size;
  }

  // Requests the end of the loop after the current step, where ranks must agree
  // on it: the device loop passes the request to the other ranks. From any
  // thread.
  void RequestEnd() { end_requested_ = true; }
  [[nodiscard]] bool end_requested() const { return end_requested_; }

  // Ends the stream: batches not yet taken are dropped, and Next() returns
  // nullptr from now on.
  void Stop() {
    stop_.request_stop();
    stream_->Stop();
  }
  // Requested by Stop(): for a device that has already taken its batches.
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }

  // Sets a function to call with the first batch, in the thread that calls
  // Next() and before it returns. Requires: Next() has not been called yet.
  void ShowFirst(std::function<void(const Batch&)> show) {
    show_first_ = std::move(show);
  }

  // From the next batch on, labels are the model's classes: to_model has that
  // of each class of the data, and other labels, or none, become -1. Empty:
  // labels stay.
  void MapLabels(std::vector<std::int32_t> to_model) {
    to_model_ = std::move(to_model);
  }

  // The stream position after the last batch that Next() returned, which a
  // checkpoint stores. The pipeline's own position is ahead of it.
  [[nodiscard]] StreamPosition position() const { return mark_.position; }
  // That and the fingerprint of the batches that Next() returned, of this rank.
  [[nodiscard]] const FeedMark& mark() const { return mark_; }
  // Sets mark() back, after a device did not use the last batches that it took.
  // Requires: Stop() was called; an earlier mark().
  void SetBack(const FeedMark& mark);

  // From now on the device's waits are counted by AddWait(), in seconds, not by
  // Next(): a host that is ahead of its device waits for other reasons. From
  // the thread of Next().
  void LeaveWaitsToDevice() { device_counts_ = true; }
  void AddWait(double seconds) { wait_seconds_ += seconds; }

  // wait_seconds(): how long the device has waited for its input in all.
  // first_wait_seconds(): how long Next() waited for the first batch, which is
  // always part of it. From any thread.
  [[nodiscard]] double wait_seconds() const { return wait_seconds_; }
  [[nodiscard]] double first_wait_seconds() const {
    return first_wait_seconds_;
  }

 private:
  [[nodiscard]] BatchHandle Take();
  void TakeModelClasses(Batch& batch) const;

  std::shared_ptr<BatchStream> stream_;
  TraceLog* trace_;
  int batch_size_;
  ImageSize image_size_;
  std::vector<std::int32_t> to_model_;  // empty: labels stay
  FeedMark mark_;
  std::atomic<double> wait_seconds_{0};
  std::atomic<double> first_wait_seconds_{0};
  std::atomic<bool> end_requested_{false};
  std::stop_source stop_;
  bool started_ = false;        // Next() has been called before
  bool device_counts_ = false;  // AddWait() counts wait_seconds_
  std::optional<TraceLog::Clock::time_point> step_start_;
  TracePlace step_place_;
  std::function<void(const Batch&)> show_first_;
};

}  // namespace infeed
