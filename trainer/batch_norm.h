#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/pimpl.h>

#include "trainer/device_group.h"

namespace infeed {

// LibTorch's BatchNorm2d, with its parameters, buffers and results, which can
// share its statistics with other ranks': in training it then normalises as one
// over all their images would, and its moving statistics move as that one's.
// All ranks of the group pass images of the same shape. One thread at a time.
//
// Not derived from BatchNorm2dImpl: its base has a virtual function that
// LibTorch 1.13 defines but does not export, and derived classes refer to it.
class BatchNormImpl final
    : public torch::nn::NormImplBase<2, BatchNormImpl,
                                     torch::nn::BatchNormOptions> {
 public:
  using NormImplBase::NormImplBase;

  // nullptr: alone, as at first. The group must outlive the passes.
  void set_group(DeviceGroup* group) { group_ = group; }

  // x [N, C, H, W]; returns its type. With a group, passes throw IoError when a
  // rank is gone.
  torch::Tensor forward(const torch::Tensor& x);

 private:
  void _check_input_dim(const torch::Tensor& x) override;

  DeviceGroup* group_ = nullptr;
};

// A handle: copies share the module.
TORCH_MODULE(BatchNorm);

// Has all batch norms inside a network share their statistics over the group.
void ShareBatchNorms(torch::nn::Module& network, DeviceGroup* group);

}  // namespace infeed
