#pragma once

#include <vector>

#include "trainer/optimizer/pass.h"

namespace infeed {

struct MomentumOptions {
  double momentum = 0.9;
  bool nesterov = true;
  double weight_decay = 1e-4;  // of the parameters that are decayed
};

// Stochastic gradient descent with momentum m, as in the reference:
//
//   g = gradient + weight_decay * w        (the L2 term's part)
//   a = m * a + g
//   w = w - rate * (g + m * a)             (rate * a without Nesterov)
class MomentumOptimizer final : public Optimizer {
 public:
  MomentumOptimizer(std::vector<OptimizedParameter> parameters,
                    const MomentumOptions& options,
                    Kernels kernels = Kernels::kFastest);

  torch::Tensor Step(const torch::Tensor& rate) override;
  [[nodiscard]] NamedTensors State() const override;

 private:
  torch::Tensor StepInOnePass(const std::vector<torch::Tensor>& gradients,
                              float rate);
  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate);

  std::vector<OptimizedParameter> parameters_;
  std::vector<torch::Tensor> averages_;  // a; from 0
  MomentumOptions options_;
  bool one_pass_;
  OptimizerPass pass_;
};

}  // namespace infeed
