#pragma once

#include <cstdint>
#include <thread>

#include "base/bounded_queue.h"
#include "pipeline/input_pipeline.h"

namespace infeed {

// The queue between the input engine and the device: a thread of its own takes
// batches from the pipeline ahead of the loop, so that a step finds its batch
// waiting. An error of the pipeline comes out of Next() after the last good
// batch.
//
// The pipeline must outlive it. Next() from one thread at a time.
class Infeed {
 public:
  // Requires: depth >= 1, and the pipeline's pool holds depth + 2 batches.
  Infeed(InputPipeline& pipeline, int batch_size, int image_size,
         int depth = 2);
  ~Infeed();
  Infeed(const Infeed&) = delete;
  Infeed& operator=(const Infeed&) = delete;

  // Waits for the next batch; nullptr at the end of the stream. A batch of
  // another shape than the constructor's is refused (a UsageError).
  [[nodiscard]] BatchHandle Next();

  // How long Next() waited in all: what the device lost to its input.
  [[nodiscard]] double wait_seconds() const { return wait_seconds_; }

 private:
  BoundedQueue<BatchHandle> queue_;
  InputPipeline& pipeline_;
  int batch_size_;
  int image_size_;
  double wait_seconds_ = 0;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
