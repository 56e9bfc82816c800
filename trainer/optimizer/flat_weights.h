#pragma once

#include <vector>

#include <torch/types.h>

#include "trainer/model/flat_chunks.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

// The weights of all parameters in one flat buffer, so that one kernel can
// update all of them. Each parameter becomes a view of the buffer, with its old
// shape and order of elements, so that other code needs no change. Zeros()
// makes more such buffers, for gradients and averages. One thread at a time.
class FlatWeights {
 public:
  // Moves the weights. Requires: they are float32, dense, all on one device,
  // and have no gradient yet.
  explicit FlatWeights(const std::vector<OptimizedParameter>& parameters);

  [[nodiscard]] const torch::Tensor& flat() const { return flat_; }
  [[nodiscard]] const std::vector<FlatParameter>& places() const {
    return places_;
  }

  // Another such buffer, of zeros.
  [[nodiscard]] torch::Tensor Zeros() const { return torch::zeros_like(flat_); }
  // Views of each parameter's part of such a buffer, laid out as the weight.
  [[nodiscard]] std::vector<torch::Tensor> ViewsOf(
      const torch::Tensor& flat) const;

 private:
  std::vector<torch::Tensor> weights_;
  std::vector<FlatParameter> places_;
  torch::Tensor flat_;
};

}  // namespace infeed
