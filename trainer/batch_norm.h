#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/pimpl.h>

#include "trainer/device_group.h"

namespace infeed {

// LibTorch's batch norm, which can share its statistics with other ranks': in
// training it then normalises as one over all their images would, and its
// moving statistics move as that one's. All ranks of the group pass images of
// the same shape. One thread at a time.
class BatchNormImpl final : public torch::nn::BatchNorm2dImpl {
 public:
  using torch::nn::BatchNorm2dImpl::BatchNorm2dImpl;

  // nullptr: alone, as at first. The group must outlive the passes.
  void set_group(DeviceGroup* group) { group_ = group; }

  // Whether ForwardRelu() is one operation (fused_norm.h): in training, alone.
  void set_fused(bool fused) { fused_ = fused; }

  // x [N, C, H, W]; returns its type. With a group, passes throw IoError when a
  // rank is gone.
  torch::Tensor forward(const torch::Tensor& x);

  // relu(forward(x) + residual); undefined: none.
  torch::Tensor ForwardRelu(const torch::Tensor& x,
                            const torch::Tensor& residual = {});

 private:
  DeviceGroup* group_ = nullptr;
  bool fused_ = false;
};

// A handle: copies share the module.
TORCH_MODULE(BatchNorm);

// Has all batch norms inside a network share their statistics over the group.
void ShareBatchNorms(torch::nn::Module& network, DeviceGroup* group);

}  // namespace infeed
