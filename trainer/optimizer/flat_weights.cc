#include "trainer/optimizer/flat_weights.h"

#include <cstddef>

#include <ATen/ATen.h>

namespace infeed {

FlatWeights::FlatWeights(const std::vector<OptimizedParameter>& parameters) {
  const torch::NoGradGuard no_grad;
  std::int64_t size = 0;
  for (const OptimizedParameter& parameter : parameters) {
    weights_.push_back(parameter.weight);
    places_.push_back({.begin = size,
                       .count = parameter.weight.numel(),
                       .decayed = parameter.decayed});
    size += AlignFlat(parameter.weight.numel());
  }
  const auto options =
      weights_.empty() ? torch::TensorOptions() : weights_.front().options();
  flat_ = torch::zeros({size}, options.requires_grad(false));
  const std::vector<torch::Tensor> views = ViewsOf(flat_);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    torch::Tensor view = views[i];
    view.copy_(weights_[i]);
    weights_[i].set_data(view);
  }
}

std::vector<torch::Tensor> FlatWeights::ViewsOf(
    const torch::Tensor& flat) const {
  std::vector<torch::Tensor> views;
  views.reserve(weights_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    views.push_back(flat.as_strided(weights_[i].sizes(), weights_[i].strides(),
                                    places_[i].begin));
  }
  return views;
}

}  // namespace infeed
