#pragma once

#include <torch/types.h>

namespace infeed {

// While it lives, convolutions and matrix products of this thread run in
// bfloat16 on the device when enabled; the weights stay float32. bfloat16 has
// float32's range, so the loss needs no scaling. The one place that knows
// LibTorch's two spellings of it.
class AutocastScope {
 public:
  AutocastScope(torch::DeviceType device, bool enabled);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  torch::DeviceType device_;
  bool before_;
};

}  // namespace infeed
