#pragma once

#include <cstdint>

#include <ATen/core/Generator.h>
#include <torch/types.h>

namespace infeed {

// A seeded LibTorch generator for a device. The CPU's uses 32 bits of the seed,
// a GPU's all 64.
[[nodiscard]] at::Generator MakeGenerator(const torch::Device& device,
                                          std::uint64_t seed);

// The random draws inside a training step. On one kind of device they depend
// only on (seed, rank, step, order of the draws), so that a resumed run draws
// as an uninterrupted one, and each rank draws differently. Does not wait for
// the device.
//
// For a CUDA graph of a step, the generator must be registered with the graph;
// setting the step between replays then still sets its seed. One thread at a
// time.
class StepRandom {
 public:
  explicit StepRandom(std::uint64_t seed, int rank = 0);

  // Before the first call, it is step 0 on the CPU.
  void SetStep(std::int64_t step, const torch::Device& device);

  // The generator; copies share its state.
  [[nodiscard]] at::Generator generator() const { return generator_; }

  // float32 in [0, 1); with four dimensions in channels_last order.
  [[nodiscard]] torch::Tensor Uniform(at::IntArrayRef shape);

 private:
  std::uint64_t seed_;
  int rank_;
  torch::Device device_;
  at::Generator generator_;
};

}  // namespace infeed
