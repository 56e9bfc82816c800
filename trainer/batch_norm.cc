#include "trainer/batch_norm.h"

#include "base/error.h"
#include "trainer/batch_norm_shared.h"

namespace infeed {

torch::Tensor BatchNormImpl::forward(const torch::Tensor& x) {
  _check_input_dim(x);
  if (is_training()) {
    num_batches_tracked += 1;
  }
  if (group_ == nullptr || !is_training()) {
    return torch::nn::functional::detail::batch_norm(
        x, running_mean, running_var, weight, bias, is_training(),
        options.momentum(), options.eps());
  }
  const SharedNorm norm =
      SharedBatchNorm(x, weight, bias, options.eps(), *group_);
  const torch::NoGradGuard no_grad;
  const double newest = options.momentum().value();
  running_mean.lerp_(norm.mean, newest);
  running_var.lerp_(norm.unbiased_variance, newest);
  return norm.output;
}

// NOLINTNEXTLINE(*-reserved-identifier,*-dcl37-c,*-dcl51-cpp): LibTorch's name.
void BatchNormImpl::_check_input_dim(const torch::Tensor& x) {
  Check(x.dim() == 4, "a batch norm gets images [N, C, H, W]");
}

void ShareBatchNorms(torch::nn::Module& network, DeviceGroup* group) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* norm = module->as<BatchNormImpl>()) {
      norm->set_group(group);
    }
  }
}

}  // namespace infeed
