#pragma once

#include <cstdint>

#include <ATen/core/Generator.h>
#include <torch/types.h>

namespace infeed {

// LibTorch's generator of a device, seeded. The CPU's takes 32 bits of the
// seed, a GPU's all 64.
[[nodiscard]] at::Generator MakeGenerator(const torch::Device& device,
                                          std::uint64_t seed);

// The draws inside a training step: a function of (seed, rank, step, order of
// the draws) alone, on one kind of device, so that a resumed run drops what an
// uninterrupted one would, and ranks drop what is each their own. Nothing waits
// for the device.
//
// A CUDA graph of a step needs the generator registered with it; setting the
// step between replays then still sets its seed. One thread at a time.
class StepRandom {
 public:
  explicit StepRandom(std::uint64_t seed, int rank = 0);

  // Step 0 of the CPU before the first call.
  void SetStep(std::int64_t step, const torch::Device& device);

  // Shares its state.
  [[nodiscard]] at::Generator generator() const { return generator_; }

  // float32 in [0, 1); four dimensions lie in channels_last order.
  [[nodiscard]] torch::Tensor Uniform(at::IntArrayRef shape);

 private:
  std::uint64_t seed_;
  int rank_;
  torch::Device device_;
  at::Generator generator_;
};

}  // namespace infeed
