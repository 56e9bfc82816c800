#pragma once

#include <cstdint>

#include <ATen/ATen.h>
#include <torch/types.h>

namespace infeed {

// A model of one linear layer over all values of small images, whose weights
// are always the same.
struct LinearLayer {
  static constexpr int kSide = 4;  // of the images
  static constexpr int kClasses = 4;
  static constexpr std::int64_t kInputs = 3 * kSide * kSide;

  [[nodiscard]] torch::Tensor Logits(const torch::Tensor& images) const {
    return torch::addmm(bias, images.flatten(1), weight.t());
  }

  torch::Tensor weight = (torch::arange(kClasses * kInputs) * 0.3)
                             .sin()
                             .reshape({kClasses, kInputs})
                             .div_(8)
                             .requires_grad_();
  torch::Tensor bias = torch::zeros({kClasses}).requires_grad_();
};

}  // namespace infeed
