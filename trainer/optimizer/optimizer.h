#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "trainer/model/layers.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/optimizer/named_tensors.h"

namespace infeed {

// A parameter to update. Shares the weight with the model: float32, dense, all
// on one device.
struct OptimizedParameter {
  std::string name;
  torch::Tensor weight;
  bool decayed = true;      // weight decay applies; with LARS and LAMB, the
                            // rate is adapted too
  double rate_factor = 1;   // factor of the learning rate
  double decay_factor = 1;  // factor of the weight decay, if decayed

  // The weight decay of this parameter. weight_decay: the options' value.
  [[nodiscard]] double DecayOf(double weight_decay) const {
    return decayed ? weight_decay * decay_factor : 0;
  }
};

// LibTorch's kernels work on every device; on the CPU our single pass over the
// memory (pass.h) is faster.
enum class Kernels { kFastest, kLibrary };

// Updates weights from their gradients. Shares the weights with the model and
// owns its own state. Never waits for the device. On the CPU, results have the
// same bits with any number of threads. One thread at a time.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates each weight from its gradient and drops the gradient, so that the
  // next backward pass writes a new one instead of adding to it. Returns the
  // loss's L2 term for the weights before the update; 0 where weight decay is
  // not part of the loss. Requires: every parameter has a gradient; rate is
  // float32 of one element.
  virtual torch::Tensor Step(const torch::Tensor& rate) = 0;

  // As Step(), but if `refused` is not 0, weights and state keep their bits.
  // refused: float32 of one element, on the device of the weights.
  virtual torch::Tensor StepUnless(const torch::Tensor& refused,
                                   const torch::Tensor& rate) = 0;

  // Its state, to be saved and restored in place: NAME for the one average of
  // momentum and LARS; NAME/m, NAME/v and the count "step" for Adam and LAMB,
  // with "mu" for NAdamW; NAME/m and NAME/v for RMSprop.
  [[nodiscard]] virtual NamedTensors State() const = 0;
};

// Whether weight decay applies to parameters of this kind. With LARS and LAMB,
// adaptation and decay exclude batch norms and biases, as in the reference.
[[nodiscard]] bool IsDecayed(ParameterKind kind,
                             const OptimizerOptions& options);

[[nodiscard]] std::unique_ptr<Optimizer> MakeOptimizer(
    const OptimizerOptions& options, std::vector<OptimizedParameter> parameters,
    Kernels kernels = Kernels::kFastest);

// The optimizer for GPUs that updates flat buffers in one kernel, for momentum
// and LARS. nullptr if the parameters are not on a GPU, if options.kind has no
// such kernel, or if this build has no CUDA. Moves the weights
// (flat_weights.h).
[[nodiscard]] std::unique_ptr<Optimizer> MakeCudaOptimizer(
    const OptimizerOptions& options,
    const std::vector<OptimizedParameter>& parameters);

}  // namespace infeed
