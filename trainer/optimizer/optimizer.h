#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "trainer/model/layer_plan.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/optimizer/named_tensors.h"

namespace infeed {

// One parameter to be updated. Shares the weight with the model: float32,
// dense, all on one device.
struct OptimizedParameter {
  std::string name;
  torch::Tensor weight;
  bool decayed = true;     // by weight decay; with LARS, adapted as well
  double rate_factor = 1;  // of the learning rate
};

// LibTorch's kernels work on every device; on the CPU a single pass over the
// memory, ours, is faster.
enum class Kernels { kFastest, kLibrary };

// What turns gradients into updates. Shares the weights with the model and
// owns what it keeps beside them. Nothing in it waits for the device. On the
// CPU its bits do not depend on the number of threads. One thread at a time.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates each weight from its gradient, which it drops: the next backward
  // pass then writes a new one instead of adding to it. Returns the L2 term of
  // the loss, of the weights before the update; 0 where weight decay is no
  // part of the loss. Requires: every parameter has a gradient; rate is
  // float32 of one element.
  virtual torch::Tensor Step(const torch::Tensor& rate) = 0;

  // What it keeps, to be saved and restored in place: NAME for the one average
  // of momentum and LARS, NAME/m, NAME/v and the count "step" for Adam.
  [[nodiscard]] virtual NamedTensors State() const = 0;
};

// Whether weight decay is for parameters of this kind. LARS adapts and decays
// what is neither batch norm's nor a bias, as the reference has it.
[[nodiscard]] bool IsDecayed(ParameterKind kind,
                             const OptimizerOptions& options);

[[nodiscard]] std::unique_ptr<Optimizer> MakeOptimizer(
    const OptimizerOptions& options, std::vector<OptimizedParameter> parameters,
    Kernels kernels = Kernels::kFastest);

}  // namespace infeed
