#pragma once

#include <vector>

#include "trainer/optimizer/pass.h"

namespace infeed {

struct LambOptions {
  double weight_decay = 1e-4;
};

// LAMB (You et al., arXiv 1904.00962) as in timm. At the t-th step, counted
// from 1, with d the weight decay, beta1 = 0.9, beta2 = 0.999 and timm's
// epsilon,
//
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + d * w
//   r = |w| / |u| for a parameter that is decayed (1 where one is 0), else 1
//   w = w - rate * r * u
//
// Weight decay is not part of the loss. t is kept on the device with m and v.
class LambOptimizer final : public Optimizer {
 public:
  LambOptimizer(std::vector<OptimizedParameter> parameters,
                const LambOptions& options,
                Kernels kernels = Kernels::kFastest);

  torch::Tensor Step(const torch::Tensor& rate) override;
  [[nodiscard]] NamedTensors State() const override;

 private:
  void StepInPasses(const std::vector<torch::Tensor>& gradients, double rate);
  void StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                       const torch::Tensor& rate);
  std::vector<double> WeightNorms();

  std::vector<OptimizedParameter> parameters_;
  std::vector<torch::Tensor> means_;    // m; from 0
  std::vector<torch::Tensor> squares_;  // v; from 0
  torch::Tensor step_;                  // t, int64; from 0
  LambOptions options_;
  bool passes_;
  OptimizerPass pass_;
};

}  // namespace infeed
