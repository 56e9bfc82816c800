#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <torch/nn/module.h>

#include "trainer/layer_plan.h"
#include "trainer/model_options.h"

namespace infeed {

// A network that classifies images: what the device loop needs of it. Its
// tensors have the names and shapes that LayersOf() lists.
//
// Starts on the CPU, in training mode; a parameter that is frozen has
// requires_grad() false and never a gradient. One thread at a time.
class Network : public torch::nn::Module {
 public:
  // Throws as LayersOf() does.
  explicit Network(const ModelOptions& options);

  // Takes normalised images [N, 3, H, W] and returns logits [N, classes].
  [[nodiscard]] virtual torch::Tensor Forward(const torch::Tensor& images) = 0;

  // Says which training step the next passes belong to, from 0. What is random
  // in a step is a function of (options.seed, step) alone.
  virtual void SetStep(std::int64_t step) = 0;

  // Requires: a parameter's name.
  [[nodiscard]] ParameterKind KindOf(const std::string& parameter) const;

 private:
  std::map<std::string, ParameterKind> kinds_;
};

// Makes the network that the options describe; its weights are a function of
// options.seed. Throws UsageError for options that cannot be.
[[nodiscard]] std::shared_ptr<Network> MakeNetwork(const ModelOptions& options);

}  // namespace infeed
