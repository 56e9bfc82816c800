#pragma once

#include <vector>

#include "trainer/optimizer/pass.h"

namespace infeed {

struct AdamOptions {
  double weight_decay = 0;  // of the parameters that are decayed
  // AdamW: the weight itself is reduced by rate * weight_decay * weight. Else
  // the decay is added to the gradient, as that of the L2 term.
  bool decoupled = false;
  bool nesterov = false;  // NAdamW
};

// Adam (Kingma and Ba, arXiv 1412.6980) as in the XLA.jl article's models, and
// AdamW (Loshchilov and Hutter, arXiv 1711.05101) as in PyTorch. At the t-th
// step, counted from 1,
//
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   w = w - rate * m / ((1 - beta1^t) * (sqrt(v / (1 - beta2^t)) + epsilon))
//
// with beta1 = 0.9, beta2 = 0.999 and the article's epsilon, or PyTorch's where
// the decay is decoupled; and with nesterov, as in PyTorch's NAdam (Dozat,
// 2016), with c the momentum's decay of 0.004, mu(t) = beta1 * (1 - 0.96^(t *
// c) / 2) and M(t) the product of mu(1) to mu(t),
//
//   w = w - rate * (mu(t + 1) / (1 - M(t + 1)) * m + (1 - mu(t)) / (1 - M(t)) *
//       g) / (sqrt(v / (1 - beta2^t)) + epsilon)
//
// t and M are kept on the device with m and v.
class AdamOptimizer final : public Optimizer {
 public:
  AdamOptimizer(std::vector<OptimizedParameter> parameters,
                const AdamOptions& options,
                Kernels kernels = Kernels::kFastest);

  torch::Tensor Step(const torch::Tensor& rate) override;
  [[nodiscard]] NamedTensors State() const override;

 private:
  torch::Tensor StepInOnePass(const std::vector<torch::Tensor>& gradients,
                              double rate);
  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate);
  void CountStep();
  torch::Tensor DecayWithLibrary(const std::vector<torch::Tensor>& gradients,
                                 const torch::Tensor& rate);

  std::vector<OptimizedParameter> parameters_;
  std::vector<torch::Tensor> means_;    // m; from 0
  std::vector<torch::Tensor> squares_;  // v; from 0
  torch::Tensor step_;                  // t, int64; from 0
  torch::Tensor product_;               // M, float32; from 1
  AdamOptions options_;
  bool one_pass_;
  OptimizerPass pass_;
};

}  // namespace infeed
