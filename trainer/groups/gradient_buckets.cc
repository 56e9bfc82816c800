#include "trainer/groups/gradient_buckets.h"

#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>

#include "base/rounding.h"

namespace infeed {
namespace {

namespace autograd = torch::autograd;

// Gradients begin on cache lines.
constexpr std::int64_t kAlignment = 16;  // elements

}  // namespace

// Runs when a backward pass has added up a weight's gradient.
class GradientBuckets::Hook final : public autograd::FunctionPostHook {
 public:
  Hook(GradientBuckets& buckets, std::size_t slot)
      : buckets_(buckets), slot_(slot) {}

  autograd::variable_list operator()(
      const autograd::variable_list& outputs,
      const autograd::variable_list& /*inputs*/) override {
    if (buckets_.armed_) {
      buckets_.Take(buckets_.slots_[slot_]);
      buckets_.BeginReadySums();
    }
    return outputs;
  }

 private:
  GradientBuckets& buckets_;
  std::size_t slot_;
};

GradientBuckets::GradientBuckets(
    const std::vector<OptimizedParameter>& parameters, DeviceGroup& group,
    std::int64_t bytes)
    : group_(group) {
  for (auto i = parameters.rbegin(); i != parameters.rend(); ++i) {
    Place(i->weight, bytes);
  }
  for (Bucket& bucket : buckets_) {
    bucket.flat =
        torch::zeros({bucket.elements}, slots_.front().weight.options());
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.sum = buckets_[slot.bucket].flat.as_strided(
        slot.weight.sizes(), slot.weight.strides(), slot.offset);
    slot.accumulator = autograd::impl::grad_accumulator(slot.weight);
    slot.hook =
        slot.accumulator->add_post_hook(std::make_unique<Hook>(*this, i));
  }
}

GradientBuckets::~GradientBuckets() {
  for (const Slot& slot : slots_) {
    slot.accumulator->del_post_hook(slot.hook);
  }
}

void GradientBuckets::Place(const torch::Tensor& weight, std::int64_t bytes) {
  if (buckets_.empty() ||
      buckets_.back().elements * weight.element_size() >= bytes) {
    buckets_.emplace_back();
  }
  Bucket& bucket = buckets_.back();
  slots_.push_back({.weight = weight,
                    .bucket = buckets_.size() - 1,
                    .offset = bucket.elements});
  bucket.elements += RoundUp<std::int64_t>(weight.numel(), kAlignment);
  ++bucket.parameters;
}

void GradientBuckets::Take(Slot& slot) {
  const torch::NoGradGuard no_grad;
  torch::Tensor& gradient = slot.weight.mutable_grad();
  if (gradient.defined()) {
    slot.sum.copy_(gradient);
    gradient.reset();
  } else {
    slot.sum.zero_();
  }
  slot.taken = true;
  ++buckets_[slot.bucket].taken;
}

// Always in the order of the buckets, which is the same on all ranks.
void GradientBuckets::BeginReadySums() {
  while (begun_ < buckets_.size() &&
         buckets_[begun_].taken == buckets_[begun_].parameters) {
    Bucket& bucket = buckets_[begun_++];
    bucket.sum = group_.BeginSum(bucket.flat);
  }
}

void GradientBuckets::Finish() {
  armed_ = false;
  for (Slot& slot : slots_) {
    if (!slot.taken) {
      Take(slot);
    }
  }
  BeginReadySums();
  for (Bucket& bucket : buckets_) {
    std::exchange(bucket.sum, nullptr)->Wait();
    bucket.taken = 0;
  }
  begun_ = 0;
  for (Slot& slot : slots_) {
    slot.weight.mutable_grad() = slot.sum;
    slot.taken = false;
  }
}

void GradientBuckets::Scale(const torch::Tensor& factor) {
  const torch::NoGradGuard no_grad;
  for (Bucket& bucket : buckets_) {
    bucket.flat.mul_(factor);
  }
}

}  // namespace infeed
