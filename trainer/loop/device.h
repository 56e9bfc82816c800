#pragma once

#include <string>

#include <torch/types.h>

// How LibTorch computes in this process: where, by how many threads, and in
// which precision.
namespace infeed {

// Has LibTorch compute with this many threads, 0: one for each core, and
// returns how many it took. LibTorch's own default is one thread in some
// builds. Throws UsageError for a negative number.
int SetThreads(int threads);

// "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N". Throws
// UsageError for another name, or a GPU that is not there.
[[nodiscard]] torch::Device ParseDevice(const std::string& name);

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
