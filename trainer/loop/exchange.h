#pragma once

#include <vector>

#include <torch/types.h>

#include "trainer/groups/device_group.h"
#include "trainer/groups/gradient_buckets.h"

namespace infeed {

// What a step says, scalars on the device.
struct StepResults {
  torch::Tensor loss;
  torch::Tensor top_1;
  torch::Tensor counted;     // images that count, of the whole batch
  torch::Tensor votes = {};  // ranks asked to end; undefined: no other rank
};

// What a training step exchanges with the other ranks' steps: gradients and
// results. The gradient is that of the mean over the whole batch: each rank
// brings its images' losses divided by what the whole batch holds, and what was
// divided by too much, as slots did not count, is put right afterwards.
//
// Two calls a step, on every rank, also on one whose images do not count. Not
// to be used again once a rank is gone. One thread at a time.
class StepExchange {
 public:
  // The group must outlive it. Other requirements are those of
  // GradientBuckets.
  StepExchange(const std::vector<OptimizedParameter>& parameters,
               DeviceGroup& group)
      : group_(group), buckets_(parameters, group) {}

  // By what a rank of `slots` images divides.
  [[nodiscard]] std::int64_t BatchSize(std::int64_t slots) const {
    return slots * group_.size();
  }

  // Before the last backward pass. own: this rank's, loss and top_1 divided
  // by batch_size.
  void Begin(const StepResults& own, bool end_asked);
  // After it. Throws IoError when a rank is gone.
  StepResults Finish(std::int64_t batch_size);

 private:
  DeviceGroup& group_;
  GradientBuckets buckets_;
  torch::Tensor sums_;  // loss, top-1, counted, votes; float64
  std::unique_ptr<DeviceGroup::Pending> pending_;
};

}  // namespace infeed
