#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trainer/optimizer/optimizer.h"

namespace infeed {

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
