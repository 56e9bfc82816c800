#include "trainer/batch_norm.h"

#include "trainer/batch_norm_shared.h"
#include "trainer/fused_norm.h"

namespace infeed {

torch::Tensor BatchNormImpl::forward(const torch::Tensor& x) {
  if (group_ == nullptr || !is_training()) {
    return BatchNorm2dImpl::forward(x);
  }
  num_batches_tracked += 1;
  const SharedNorm norm =
      SharedBatchNorm(x, weight, bias, options.eps(), *group_);
  const torch::NoGradGuard no_grad;
  const double newest = options.momentum().value();
  running_mean.lerp_(norm.mean, newest);
  running_var.lerp_(norm.unbiased_variance, newest);
  return norm.output;
}

torch::Tensor BatchNormImpl::ForwardRelu(const torch::Tensor& x,
                                         const torch::Tensor& residual) {
  if (fused_ && group_ == nullptr && is_training()) {
    num_batches_tracked += 1;
    return FusedNorm(x,
                     {.weight = weight,
                      .bias = bias,
                      .moving_mean = running_mean,
                      .moving_variance = running_var,
                      .momentum = options.momentum().value(),
                      .epsilon = options.eps()},
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
