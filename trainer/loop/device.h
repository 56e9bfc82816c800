#pragma once

#include <string>

#include <torch/types.h>

#include "trainer/model/options.h"

// How LibTorch computes in this process: device, number of threads, precision.
namespace infeed {

// Sets the number of LibTorch's threads (0: one for each core) and returns it.
// LibTorch's own default is one thread in some builds. Throws UsageError for a
// negative number.
int SetThreads(int threads);

// "auto" (a GPU if there is one), "cpu", "cuda", "cuda:N". Throws UsageError
// for another name, or a GPU that does not exist.
[[nodiscard]] torch::Device ParseDevice(const std::string& name);

// LibTorch's type of images and activations.
[[nodiscard]] torch::ScalarType ScalarTypeOf(Precision precision);

// While it lives, convolutions and matrix products of this thread run in this
// precision on the device; the weights stay float32. Hides the difference
// between LibTorch's two interfaces for it.
class AutocastScope {
 public:
  AutocastScope(torch::DeviceType device, Precision precision);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  torch::DeviceType device_;
  torch::ScalarType type_;
  bool before_;
};

}  // namespace infeed
