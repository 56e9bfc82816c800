#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/pimpl.h>

#include "trainer/groups/device_group.h"
#include "trainer/network/fused_norm.h"
#include "trainer/network/pool.h"

namespace infeed {

struct BatchNormOptions {
  std::int64_t channels = 1;
  double momentum = 0.1;  // weight of a batch in the moving statistics
};

// A batch norm with PyTorch's names and formula, which can share its statistics
// with other ranks: in training it then normalises by, and updates its moving
// statistics with, the statistics of all the group's images. All ranks of the
// group pass images of the same shape. One thread at a time.
//
// Not derived from LibTorch's module: its library does not export the base's
// functions.
class BatchNormImpl final : public torch::nn::Module {
 public:
  explicit BatchNormImpl(const BatchNormOptions& norm_options);

  // nullptr, the default: no shared statistics. The group must outlive the
  // passes.
  void set_group(DeviceGroup* group) { group_ = group; }

  // Whether a training pass is one operation (fused_norm.h), if the statistics
  // are not shared; nullopt: on a GPU.
  void set_fused(const std::optional<bool>& fused) { fused_ = fused; }

  // Whether a pass over x is one operation, which uses sums of x.
  [[nodiscard]] bool IsFused(const torch::Tensor& x) const;

  // x, the images: [N, C, H, W]; the result has their type. With a group,
  // passes throw IoError when a rank is gone.
  torch::Tensor forward(const SummedImages& images);

  // relu(forward(x) + residual); an undefined residual is not added.
  // residual_norm: a norm of the residual, in the same mode as this one, whose
  // result is added instead; nullptr: none.
  torch::Tensor ForwardRelu(const SummedImages& images,
                            const SummedImages& residual = {},
                            BatchNormImpl* residual_norm = nullptr);

  // ConvolveSummed(convolution, ForwardRelu(images)), as one operation where
  // that can be (normed_convolution.h). Requires: IsFused(images.x).
  SummedImages ForwardReluConvolved(const SummedImages& images,
                                    torch::nn::Conv2d& convolution);

  // MaxPooled(ForwardRelu(x), pooling).
  torch::Tensor ForwardReluPooled(const SummedImages& images,
                                  const MaxPooling& pooling);

  // As ForwardRelu(), for two users of the result. If the pass is one operation
  // (fused_norm.h), the two results share their memory, and their gradients are
  // added up in it. Requires: residual is defined.
  std::pair<torch::Tensor, torch::Tensor> ForwardReluForked(
      const SummedImages& images, const SummedImages& residual,
      BatchNormImpl* residual_norm = nullptr);

  BatchNormOptions options;
  torch::Tensor weight;               // [C]
  torch::Tensor bias;                 // [C]
  torch::Tensor running_mean;         // [C]
  torch::Tensor running_var;          // [C]
  torch::Tensor num_batches_tracked;  // int64 scalar

 private:
  [[nodiscard]] NormTensors TakeStep(const SummedImages& images);
  [[nodiscard]] static NormResidual Added(const SummedImages& residual,
                                          BatchNormImpl* norm);
  torch::Tensor ForwardShared(const torch::Tensor& x);

  DeviceGroup* group_ = nullptr;
  std::optional<bool> fused_ = false;
};

// A handle: copies share the module.
TORCH_MODULE(BatchNorm);

void ShareBatchNorms(torch::nn::Module& network, DeviceGroup* group);

// How many consecutive ranks share the statistics of their batch norms, from
// the parameter batch_norm_group: 0 stands for all. Throws UsageError unless
// world_size is a multiple of the group's size.
[[nodiscard]] int BatchNormRanks(int batch_norm_group, int world_size);

}  // namespace infeed
