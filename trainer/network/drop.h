#pragma once

#include <cstdint>

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include "trainer/model/options.h"

// Random dropping in training. Results have the type of the input; the kept
// values are scaled so that the mean stays the same.
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

// Drops single elements. rate in [0, 1).
[[nodiscard]] torch::Tensor Dropout(const torch::Tensor& x, double rate,
                                    StepRandom& random);

// Drops whole samples: for x [N, ...], all of x[n] or none of it. rate in [0,
// 1).
[[nodiscard]] torch::Tensor DropConnect(const torch::Tensor& x, double rate,
                                        StepRandom& random);

// The mask of squares that DropBlock drops. uniform: [N, C, P, Q] in [0, 1).
// Returns [N, C, H, W], H = P + size - 1, W = Q + size - 1, float32: 0 in the
// size x size square that begins at each place where uniform < rate, 1
// elsewhere. rate is a float32 scalar on the same device.
[[nodiscard]] torch::Tensor DropBlockMask(const torch::Tensor& uniform,
                                          const torch::Tensor& rate, int size);

// The probability that a square of side `size` begins at a place of a map in
// group 1..4, per 1 - keep(t): see DropBlock.
[[nodiscard]] double DropBlockShare(int group, std::int64_t height,
                                    std::int64_t width, std::int64_t size);

// The reference driver's DropBlock. In step t of T, a block of group g keeps
//
//   keep(t) = 1 - t / T * (1 - keep_prob)
//   keep_g = 1 - (1 - keep(t)) / 4^(4 - g)
//
// of a map of H x W. Squares of side b = min(size, H, W), drawn separately for
// each channel and sample, begin at each of the P = (H - b + 1) (W - b + 1)
// places where they fit with the probability (1 - keep_g) H W / b^2 / P. The
// rest is scaled by elements / elements kept, counted over the whole tensor.
// The reference's maps are squares.
//
// Kernels read the step from a tensor, which a CUDA graph needs. One thread at
// a time.
class DropBlock {
 public:
  // Requires: options that PlanResNet() accepts.
  explicit DropBlock(const DropBlockOptions& options);

  void SetStep(std::int64_t step, const torch::Device& device);

  // Requires: x [N, C, H, W]; group in 1..4.
  [[nodiscard]] torch::Tensor Apply(const torch::Tensor& x, int group,
                                    StepRandom& random) const;

 private:
  [[nodiscard]] torch::Tensor Multipliers(at::IntArrayRef shape, int group,
                                          StepRandom& random) const;

  DropBlockOptions options_;
  torch::Tensor dropped_;  // 1 - keep(t), float32 scalar on the device
};

}  // namespace infeed
