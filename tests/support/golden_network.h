#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "tests/support/torchvision_golden.h"
#include "trainer/network/network.h"

namespace infeed {

// Parameters and buffers by name.
inline std::map<std::string, torch::Tensor> StateOf(const Network& network) {
  std::map<std::string, torch::Tensor> state;
  for (const auto& entry : network.named_parameters()) {
    state[entry.key()] = entry.value();
  }
  for (const auto& entry : network.named_buffers()) {
    state[entry.key()] = entry.value();
  }
  return state;
}

// Gives every tensor the value that the golden scripts give its name.
inline void SetGoldenWeights(Network& network) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : StateOf(network)) {
    if (tensor.is_floating_point()) {
      std::vector<float> values = GoldenWeight(name, tensor.sizes().vec());
      torch::Tensor target = tensor;
      target.copy_(torch::from_blob(values.data(), tensor.sizes()));
    }
  }
}

}  // namespace infeed
