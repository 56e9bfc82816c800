#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include "trainer/model/layer_plan.h"
#include "trainer/model/options.h"

namespace infeed {

// A network that classifies images: what the device loop needs of it. Its
// tensors have the names and shapes that LayersOf() lists.
//
// Starts on the CPU, in training mode. Frozen stages stay in evaluation mode
// then, and so do frozen batch norms; a frozen stage's parameters have
// requires_grad() false and never a gradient. One thread at a time.
class Network : public torch::nn::Module {
 public:
  // Takes normalised images [N, 3, H, W] and returns logits [N, classes].
  [[nodiscard]] virtual torch::Tensor Forward(const torch::Tensor& images) = 0;

  // Says which training step the next passes belong to, from 0: what is random
  // in one is a function of (options.seed, options.rank, step, kind of device)
  // alone. Waits for nothing. Call it once the network is on its device.
  virtual void SetStep(std::int64_t step) = 0;

  // What a pass in training draws from; may change with the device.
  [[nodiscard]] virtual std::vector<at::Generator> Generators() const {
    return {};
  }

  // Requires: a parameter's name.
  [[nodiscard]] ParameterKind KindOf(const std::string& parameter) const;
  // Whether it belongs to the last layer, which has an output for each class.
  [[nodiscard]] bool IsOfClassifier(const std::string& parameter) const;

  void train(bool on = true) override;

 protected:
  // Throws as LayersOf() does.
  explicit Network(const ModelOptions& options);

  // To be called when all modules are registered: sets the first weights, and
  // freezes what the options say.
  void Finish();

 private:
  ModelOptions options_;
  std::vector<LayerPlan> layers_;
  std::map<std::string, ParameterKind> kinds_;
  std::set<std::string> still_;  // modules that do not train
};

// Makes the network that the options describe; its weights are a function of
// options.seed. Throws UsageError for options that cannot be.
[[nodiscard]] std::shared_ptr<Network> MakeNetwork(const ModelOptions& options);

// Registers a module under a dotted path, "layer1.0.conv1", and makes the
// modules on the way that are not there.
void RegisterAt(torch::nn::Module& root, const std::string& path,
                std::shared_ptr<torch::nn::Module> module);

}  // namespace infeed
