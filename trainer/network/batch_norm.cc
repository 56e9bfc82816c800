#include "trainer/network/batch_norm.h"

#include <ATen/ATen.h>

#include "trainer/network/batch_norm_shared.h"
#include "trainer/network/fused_norm.h"

namespace infeed {

BatchNormImpl::BatchNormImpl(const BatchNormOptions& norm_options)
    : options(norm_options),
      weight(register_parameter("weight", torch::ones({options.channels}))),
      bias(register_parameter("bias", torch::zeros({options.channels}))),
      running_mean(
          register_buffer("running_mean", torch::zeros({options.channels}))),
      running_var(
          register_buffer("running_var", torch::ones({options.channels}))),
      num_batches_tracked(register_buffer("num_batches_tracked",
                                          torch::zeros({}, torch::kLong))) {}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& x) {
  if (is_training()) {
    num_batches_tracked.add_(1);
  }
  if (is_training() && group_ != nullptr) {
    return ForwardShared(x);
  }
  return at::batch_norm(x, weight, bias, running_mean, running_var,
                        is_training(), options.momentum, options.epsilon,
                        at::globalContext().userEnabledCuDNN());
}

torch::Tensor BatchNormImpl::ForwardShared(const torch::Tensor& x) {
  const SharedNorm norm =
      SharedBatchNorm(x, weight, bias, options.epsilon, *group_);
  const torch::NoGradGuard no_grad;
  running_mean.lerp_(norm.mean, options.momentum);
  running_var.lerp_(norm.unbiased_variance, options.momentum);
  return norm.output;
}

torch::Tensor BatchNormImpl::ForwardRelu(const torch::Tensor& x,
                                         const torch::Tensor& residual) {
  if (fused_ && group_ == nullptr && is_training()) {
    num_batches_tracked.add_(1);
    return FusedNorm(x,
                     {.weight = weight,
                      .bias = bias,
                      .moving_mean = running_mean,
                      .moving_variance = running_var,
                      .momentum = options.momentum,
                      .epsilon = options.epsilon},
                     residual, /*relu=*/true);
  }
  torch::Tensor y = forward(x);
  if (residual.defined()) {
    y += residual;
  }
  return y.relu_();
}

void ShareBatchNorms(torch::nn::Module& network, DeviceGroup* group) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* norm = module->as<BatchNormImpl>()) {
      norm->set_group(group);
    }
  }
}

}  // namespace infeed
