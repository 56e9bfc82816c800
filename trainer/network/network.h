#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include "trainer/model/layers.h"
#include "trainer/model/options.h"

namespace infeed {

// A network that classifies images, as the device loop uses it. Its tensors
// have the names and shapes that PlanLayers() lists.
//
// Starts on the CPU, in training mode. Frozen stages and frozen batch norms
// always stay in evaluation mode; a frozen stage's parameters have
// requires_grad() false and never a gradient. One thread at a time.
class Network : public torch::nn::Module {
 public:
  // Takes normalised images [N, 3, H, W], which may have a fourth channel of
  // zeros, and returns logits [N, classes]. A ResNet of one channel also takes
  // gray images [N, 1, H, W]; one of other numbers takes the colors in turn.
  [[nodiscard]] virtual torch::Tensor Forward(const torch::Tensor& images) = 0;

  // Whether Forward() passes images of even sides through SpaceToDepth()
  // (convolution.h); it then also takes them as its result.
  [[nodiscard]] virtual bool uses_space_to_depth() const { return false; }

  // Sets the training step of the next passes, from 0. The random draws of a
  // step depend only on (options.seed, options.rank, step, kind of device).
  // Does not wait for the device. Call it once the network is on its device.
  virtual void SetStep(std::int64_t step) = 0;

  // The generators of a training pass's random draws; may change with the
  // device.
  [[nodiscard]] virtual std::vector<at::Generator> Generators() const {
    return {};
  }

  // Requires: a parameter's name.
  [[nodiscard]] ParameterKind KindOf(const std::string& parameter) const;
  // Whether it belongs to the last layer, which has an output for each class.
  [[nodiscard]] bool IsOfClassifier(const std::string& parameter) const;

  void train(bool on = true) override;

 protected:
  // Throws as PlanLayers() does.
  explicit Network(const ModelOptions& options);

  // Call it when all modules are registered: sets the initial weights, and
  // freezes layers as the options say.
  void Finish();

 private:
  ModelOptions options_;
  std::vector<LayerPlan> layers_;
  std::map<std::string, ParameterKind> kinds_;
  std::set<std::string> still_;  // modules that do not train
};

// Makes the network that the options describe; its weights depend only on
// options.seed. Throws UsageError for impossible options.
[[nodiscard]] std::shared_ptr<Network> MakeNetwork(const ModelOptions& options);

// Sets a new network's initial weights, which depend only on options.seed.
// Biases are 0, norms' scales are left as they are; the other weights depend on
// the kind of network:
//
//   ResNet: convolutions normal with the standard deviation sqrt(1 / fan_in),
//     cut off at two standard deviations of the uncut distribution; the
//     classifier normal with 0.01 (the reference driver's).
//   xla_jl: uniform in +-sqrt(6 / sum of the tensor's dimensions), as Flux 0.7
//     has it.
//   LeNet: Glorot's uniform, +-sqrt(6 / (fan_in + fan_out)).
void InitialiseWeights(const ModelOptions& options, torch::nn::Module& network);

// Registers a module under a dotted path, "layer1.0.conv1", and creates missing
// modules on the path.
void RegisterAt(torch::nn::Module& root, const std::string& path,
                std::shared_ptr<torch::nn::Module> module);

}  // namespace infeed
