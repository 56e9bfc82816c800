#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <torch/csrc/autograd/variable.h>
#include <torch/types.h>

#include "trainer/groups/device_group.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

// The gradients of all parameters in flat buffers ("buckets"), summed over a
// group bucket by bucket, those of the last parameters first: a backward pass
// computes these first, and their sum is exchanged while the pass continues.
//
// In a step, call Arm() before the last backward pass, and Finish() after it.
// Without Arm() the sums have the same bits, but come later. One thread at a
// time; a backward pass may call back from another thread.
class GradientBuckets {
 public:
  static constexpr std::int64_t kBytes = 25'000'000;

  // Adds hooks to the parameters' gradients; on a GPU, in the current stream,
  // which must be that of the first step. The group must outlive it. bytes:
  // approximate size of a bucket.
  GradientBuckets(const std::vector<OptimizedParameter>& parameters,
                  DeviceGroup& group, std::int64_t bytes = kBytes);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // The next backward pass is the step's last one: gradients that it has
  // finished may be summed.
  void Arm() { armed_ = true; }

  // Waits for the sums. Every parameter's gradient is then a view of a bucket,
  // laid out as its weight; it is zero where no rank had a gradient. Throws
  // IoError when a rank is gone.
  void Finish();

  // Multiplies all gradients, after Finish(). factor: float32 scalar on the
  // device.
  void Scale(const torch::Tensor& factor);

  [[nodiscard]] std::size_t size() const { return buckets_.size(); }

 private:
  // A pointer, whose type differs between versions of LibTorch.
  using Accumulator = decltype(torch::autograd::impl::grad_accumulator({}));

  struct Bucket {
    std::int64_t elements = 0;
    std::size_t parameters = 0;
    std::size_t taken = 0;  // parameters taken in this step
    torch::Tensor flat = {};
    std::unique_ptr<DeviceGroup::Pending> sum = {};
  };
  struct Slot {
    torch::Tensor weight;
    std::size_t bucket = 0;
    std::int64_t offset = 0;  // in the bucket, elements
    torch::Tensor sum = {};   // a view of the bucket
    bool taken = false;
    Accumulator accumulator = {};
    std::uintptr_t hook = 0;
  };
  class Hook;

  void Place(const torch::Tensor& weight, std::int64_t bytes);
  void Take(Slot& slot);
  void BeginReadySums();

  DeviceGroup& group_;
  std::vector<Bucket> buckets_;
  std::vector<Slot> slots_;
  bool armed_ = false;
  std::size_t begun_ = 0;  // buckets whose sums have begun in this step
};

}  // namespace infeed
