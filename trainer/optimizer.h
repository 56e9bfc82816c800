#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

namespace infeed {

struct MomentumOptions {
  double momentum = 0.9;
  bool nesterov = true;
  double weight_decay = 1e-4;  // of the parameters that are decayed
  // LibTorch's kernels, which every device has, even on the CPU, where our own
  // single pass is faster.
  bool library_kernels = false;
};

// One parameter and what the optimizer keeps beside it. The tensors have the
// same shape and the same layout in memory.
struct OptimizedParameter {
  std::string name;
  torch::Tensor weight;
  bool decayed = true;
  torch::Tensor momentum = {};  // zeros from the start
};

// Stochastic gradient descent with momentum m, as the reference has it:
//
//   g = gradient + weight_decay * w        (the L2 term's part)
//   a = m * a + g
//   w = w - rate * (g + m * a)             (rate * a without Nesterov)
//
// Shares the weights with the model and owns the momentum. The rate is a
// tensor on the device, so that nothing waits for the host. One thread at a
// time.
class MomentumOptimizer {
 public:
  // Requires: float32 weights that are dense, all on one device.
  MomentumOptimizer(std::vector<OptimizedParameter> parameters,
                    const MomentumOptions& options);

  // Updates each weight from its gradient, which it drops: the next backward
  // pass then writes a new one instead of adding to it. Returns the L2 term,
  // weight_decay / 2 * sum of squares, of the weights before the update.
  // Requires: every parameter has a gradient; rate is float32 of one element.
  torch::Tensor Step(const torch::Tensor& rate);

  [[nodiscard]] const std::vector<OptimizedParameter>& parameters() const {
    return parameters_;
  }

 private:
  // A stretch of one parameter's memory: a unit of parallel work.
  struct Stretch {
    std::size_t parameter = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  torch::Tensor StepInOnePass(const std::vector<torch::Tensor>& gradients,
                              float rate);
  torch::Tensor StepWithLibrary(std::vector<torch::Tensor> gradients,
                                const torch::Tensor& rate);

  std::vector<OptimizedParameter> parameters_;
  MomentumOptions options_;
  bool one_pass_ = false;
  std::vector<Stretch> stretches_;
  std::vector<double> squares_;  // sum over each stretch
};

}  // namespace infeed
