#include "trainer/optimizer/loss_scaler.h"

#include <string>

#include <ATen/ATen.h>

namespace infeed {
namespace {

constexpr double kBackoff = 0.5;
constexpr double kGrowth = 2;
// The scale and its reciprocal are normal numbers.
constexpr double kLeastScale = 0x1p-126;
constexpr double kMostScale = 0x1p126;

std::string NameOf(std::string_view tensor) {
  return std::string(kLossScalePrefix).append(tensor);
}

}  // namespace

LossScaler::LossScaler(const LossScaleOptions& options,
                       const torch::Device& device)
    : options_(options),
      scale_(torch::full({}, options.scale,
                         torch::device(device).dtype(torch::kFloat))),
      good_steps_(torch::zeros({}, torch::device(device).dtype(torch::kLong))),
      skipped_steps_(torch::zeros_like(good_steps_)) {}

torch::Tensor LossScaler::Unscale(
    const std::vector<OptimizedParameter>& parameters) const {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const OptimizedParameter& parameter : parameters) {
    gradients.push_back(parameter.weight.grad());
  }
  const torch::Tensor inverse = scale_.reciprocal();
  torch::Tensor refused = torch::zeros_like(scale_);
  if (scale_.is_cuda()) {  // LibTorch 1.13 has no such kernel for the CPU.
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, refused, inverse);
    return refused;
  }
  for (torch::Tensor& gradient : gradients) {
    refused.logical_or_(gradient.isfinite().all().logical_not());
    gradient.mul_(inverse);
  }
  return refused;
}

// In place and without branches, for a captured step.
void LossScaler::Update(const torch::Tensor& refused) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor is_skipped = refused.ne(0);
  skipped_steps_.add_(is_skipped);
  if (!options_.dynamic) {
    return;
  }
  good_steps_.add_(1).mul_(is_skipped.logical_not());
  const torch::Tensor grows = good_steps_.ge(options_.growth_interval);
  good_steps_.mul_(grows.logical_not());
  scale_.mul_(1 + grows * (kGrowth - 1) + is_skipped * (kBackoff - 1))
      .clamp_(kLeastScale, kMostScale);
}

NamedTensors LossScaler::State() const {
  NamedTensors state = {{NameOf("skipped_steps"), skipped_steps_}};
  if (options_.dynamic) {
    state.emplace_back(NameOf("scale"), scale_);
    state.emplace_back(NameOf("good_steps"), good_steps_);
  }
  return state;
}

}  // namespace infeed
