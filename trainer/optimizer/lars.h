#pragma once

#include <vector>

#include "trainer/optimizer/pass.h"

namespace infeed {

struct LarsOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double trust = 0.001;  // the reference's "eeta"
};

// Layer-wise adaptive rates (You et al., arXiv 1708.03888), in the reference's
// later form, where the average includes the rate. With d the weight decay, for
// a parameter that is decayed,
//
//   r = rate * trust * |w| / (|gradient| + d * |w|)   (rate where one is 0)
//   a = momentum * a + r * (gradient + d * w)
//   w = w - a
//
// and for the others r = rate, d = 0. Weight decay is not part of the loss.
class LarsOptimizer final : public Optimizer {
 public:
  LarsOptimizer(std::vector<OptimizedParameter> parameters,
                const LarsOptions& options,
                Kernels kernels = Kernels::kFastest);

  torch::Tensor Step(const torch::Tensor& rate) override;
  [[nodiscard]] NamedTensors State() const override;

 private:
  void StepInPasses(const std::vector<torch::Tensor>& gradients, float rate);
  void StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                       const torch::Tensor& rate);
  std::vector<double> SquaredNorms(const std::vector<torch::Tensor>& tensors);

  std::vector<OptimizedParameter> parameters_;
  std::vector<torch::Tensor> weights_;
  std::vector<torch::Tensor> averages_;  // a; from 0
  LarsOptions options_;
  bool passes_;
  OptimizerPass pass_;
};

}  // namespace infeed
