#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <torch/types.h>

#include "trainer/optimizer/optimizer.h"

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

// One pass over the elements of all parameters in the CPU's memory, shared
// among LibTorch's threads in stretches. It reads and writes every element
// once; a sequence of LibTorch's kernels would do so in each kernel. One thread
// at a time.
class OptimizerPass {
 public:
  // A part of one parameter's memory: a unit of parallel work.
  struct Stretch {
    std::size_t parameter = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  explicit OptimizerPass(const std::vector<OptimizedParameter>& parameters);

  // Calls work for each stretch and keeps the results.
  void Run(const std::function<double(const Stretch&)>& work);

  // The sums of these results, in an order that does not depend on the threads.
  [[nodiscard]] double Sum() const;
  [[nodiscard]] std::vector<double> SumsByParameter() const;

 private:
  std::size_t parameters_;
  std::vector<Stretch> stretches_;
  std::vector<double> results_;
};

// The arguments of MakeOptimizer().
struct PassSetup {
  std::vector<OptimizedParameter> parameters;
  OptimizerOptions options;
  Kernels kernels;
};

// An optimizer with two forms of a step: passes over the CPU's memory, if all
// parameters are there and kernels is not kLibrary; else LibTorch's kernels.
class PassOptimizer : public Optimizer {
 public:
  torch::Tensor Step(const torch::Tensor& rate) final;
  torch::Tensor StepUnless(const torch::Tensor& refused,
                           const torch::Tensor& rate) final;

 protected:
  explicit PassOptimizer(PassSetup setup);

  // Called at the beginning of each step.
  virtual void CountStep() {}
  // Both update the weights and return the L2 term, as Step(). They may change
  // the gradients.
  virtual torch::Tensor StepInPasses(
      const std::vector<torch::Tensor>& gradients, float rate) = 0;
  virtual torch::Tensor StepWithLibrary(
      const std::vector<torch::Tensor>& gradients,
      const torch::Tensor& rate) = 0;

  // The L2 term from the squares of the weights that the last pass returned.
  [[nodiscard]] torch::Tensor L2OfPass() const;

  std::vector<OptimizedParameter> parameters_;
  OptimizerOptions options_;
  OptimizerPass pass_;

 private:
  bool passes_;
};

// The kinds of optimizers. Their sources have the formulas.
[[nodiscard]] std::unique_ptr<Optimizer> MakeMomentum(PassSetup setup);
[[nodiscard]] std::unique_ptr<Optimizer> MakeLars(PassSetup setup);
// Also AdamW and NAdamW.
[[nodiscard]] std::unique_ptr<Optimizer> MakeAdam(PassSetup setup);
[[nodiscard]] std::unique_ptr<Optimizer> MakeLamb(PassSetup setup);
[[nodiscard]] std::unique_ptr<Optimizer> MakeRmsProp(PassSetup setup);

}  // namespace infeed
