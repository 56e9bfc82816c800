#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "trainer/optimizer/flat_chunks.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

// The weights of all parameters in one stretch of memory, where one kernel
// passes over them. Each parameter becomes a view of it, with the shape and the
// order of elements that it had, so that nobody else sees a difference; more
// such stretches are made for gradients and averages. One thread at a time.
class FlatWeights {
 public:
  // Moves the weights. Requires: float32, dense, all on one device; none has a
  // gradient yet.
  explicit FlatWeights(const std::vector<OptimizedParameter>& parameters);

  [[nodiscard]] const torch::Tensor& flat() const { return flat_; }
  [[nodiscard]] const std::vector<FlatParameter>& places() const {
    return places_;
  }

  // Another such stretch, of zeros.
  [[nodiscard]] torch::Tensor Zeros() const { return torch::zeros_like(flat_); }
  // Of a stretch like this one, each parameter's part, laid out as its weight.
  [[nodiscard]] std::vector<torch::Tensor> ViewsOf(
      const torch::Tensor& flat) const;

 private:
  std::vector<torch::Tensor> weights_;
  std::vector<FlatParameter> places_;
  torch::Tensor flat_;
};

}  // namespace infeed
