#pragma once

#include <vector>

#include "trainer/optimizer/pass.h"

namespace infeed {

struct RmsPropOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;  // of the parameters that are decayed
};

// RMSprop (Hinton, 2012) as in TensorFlow and timm's RMSpropTF: epsilon is
// under the root, v starts at 1, and the momentum includes the rate. decay and
// epsilon are those of the published recipes, 0.9 and 1e-3.
//
//   g = gradient + weight_decay * w        (the L2 term's part)
//   v = decay * v + (1 - decay) * g^2
//   m = momentum * m + rate * g / sqrt(v + epsilon)
//   w = w - m
class RmsPropOptimizer final : public Optimizer {
 public:
  RmsPropOptimizer(std::vector<OptimizedParameter> parameters,
                   const RmsPropOptions& options,
                   Kernels kernels = Kernels::kFastest);

  torch::Tensor Step(const torch::Tensor& rate) override;
  [[nodiscard]] NamedTensors State() const override;

 private:
  torch::Tensor StepInOnePass(const std::vector<torch::Tensor>& gradients,
                              float rate);
  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate);

  std::vector<OptimizedParameter> parameters_;
  std::vector<torch::Tensor> moves_;    // m; from 0
  std::vector<torch::Tensor> squares_;  // v; from 1
  RmsPropOptions options_;
  bool one_pass_;
  OptimizerPass pass_;
};

}  // namespace infeed
