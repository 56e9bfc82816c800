#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <torch/types.h>

#include "trainer/optimizer/optimizer.h"

// Code that optimizers share, for the gradients and other tensors of all
// parameters.
namespace infeed {

// Number of partial sums of a sum over weights, so that the compiler can use
// SIMD.
inline constexpr int kLanes = 16;

// Calls one(i, sum) for each i below count, which adds to the sum; returns the
// sum of these sums.
[[nodiscard]] inline double SumInLanes(std::int64_t count, const auto& one) {
  std::array<float, kLanes> sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      one(i + lane, sums[static_cast<std::size_t>(lane)]);
    }
  }
  for (; i < count; ++i) {
    one(i, sums[0]);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

[[nodiscard]] inline double SumOfSquares(const float* values,
                                         std::int64_t count) {
  return SumInLanes(count, [values](std::int64_t i, float& sum) {
    sum += values[i] * values[i];
  });
}

// Removes the gradients from the parameters and returns them, each with the
// memory layout of its weight. Requires: every parameter has a gradient.
[[nodiscard]] std::vector<torch::Tensor> TakeGradients(
    const std::vector<OptimizedParameter>& parameters);

// Clips the gradients by their global L2 norm: scales them in place by longest
// / (norm + 1e-6) if that is below 1, as PyTorch does. Does not wait for the
// device.
void ClipGradients(const std::vector<OptimizedParameter>& parameters,
                   double longest);

// Adds weight_decay * weight to the gradient of each parameter that is decayed
// and returns the L2 term whose gradient that is, weight_decay / 2 * sum of
// squares, on the device of `like`.
[[nodiscard]] torch::Tensor AddL2(
    const std::vector<OptimizedParameter>& parameters,
    const std::vector<torch::Tensor>& gradients, double weight_decay,
    const torch::Tensor& like);

// Zeros with each weight's shape and layout.
[[nodiscard]] std::vector<torch::Tensor> ZerosLike(
    const std::vector<OptimizedParameter>& parameters);

// The tensors, named by their parameter's name and the suffix.
[[nodiscard]] NamedTensors Named(
    const std::vector<OptimizedParameter>& parameters,
    const std::vector<torch::Tensor>& tensors, const std::string& suffix = "");
// NAME/m of each parameter, then NAME/v.
[[nodiscard]] NamedTensors NamedMoments(
    const std::vector<OptimizedParameter>& parameters,
    const std::vector<torch::Tensor>& means,
    const std::vector<torch::Tensor>& squares);

// The device of the parameters; the CPU if there are none.
[[nodiscard]] torch::Device DeviceOf(
    const std::vector<OptimizedParameter>& parameters);

}  // namespace infeed
