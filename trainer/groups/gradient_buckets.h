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

// The gradients of all parameters in flat pieces of memory, summed over a group
// piece by piece, the last parameters' first: backward passes come to those
// first, and their sum travels while the pass goes on.
//
// A step is: backward passes, with Arm() before the last one; Finish(). The
// sums are the same bits without Arm(), only later. One thread at a time; a
// backward pass may call back from another.
class GradientBuckets {
 public:
  static constexpr std::int64_t kBytes = 25'000'000;

  // Hooks itself to the parameters' gradients; on a GPU, in the stream that is
  // current: the first step's. The group must outlive it. bytes: of a bucket,
  // about.
  GradientBuckets(const std::vector<OptimizedParameter>& parameters,
                  DeviceGroup& group, std::int64_t bytes = kBytes);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // The next backward pass is the step's last: what it has finished may be
  // summed.
  void Arm() { armed_ = true; }

  // Waits for the sums. Every parameter's gradient is then a view of them, laid
  // out as its weight: zero where no rank had one. Throws IoError when a rank
  // is gone.
  void Finish();

  // Multiplies all of them, after Finish(). factor: float32 scalar on the
  // device.
  void Scale(const torch::Tensor& factor);

  [[nodiscard]] std::size_t size() const { return buckets_.size(); }

 private:
  // A pointer, of a kind that differs between versions of LibTorch.
  using Accumulator = decltype(torch::autograd::impl::grad_accumulator({}));

  struct Bucket {
    std::int64_t elements = 0;
    std::size_t parameters = 0;
    std::size_t taken = 0;  // of them, in this step
    torch::Tensor flat = {};
    std::unique_ptr<DeviceGroup::Pending> sum = {};
  };
  struct Slot {
    torch::Tensor weight;
    std::size_t bucket = 0;
    std::int64_t offset = 0;  // in it, elements
    torch::Tensor sum = {};   // a view of it
    bool taken = false;
    Accumulator accumulator = {};
    std::uintptr_t hook = 0;
  };
  class Hook;

  void Place(const torch::Tensor& weight, std::int64_t bytes);
  void Take(Slot& slot);
  void BeginWhatIsReady();

  DeviceGroup& group_;
  std::vector<Bucket> buckets_;
  std::vector<Slot> slots_;
  bool armed_ = false;
  std::size_t begun_ = 0;  // buckets, in this step
};

}  // namespace infeed
