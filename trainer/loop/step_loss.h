#pragma once

#include <torch/types.h>

#include "trainer/loop/batch.h"
#include "trainer/model/optimizer_options.h"

namespace infeed {

// The divisors of a batch's means; scalars on the device.
struct BatchDivisors {
  torch::Tensor images;  // number of images, for top-1 and the like
  torch::Tensor loss;    // for the loss against the labels
};

// The loss of a training step: against the labels, and, where there is a
// teacher, against its logits. Copies nothing to the host.
//
// Class weights are PyTorch's: factors of the classes' terms. If each image has
// one label, the mean of the softmax loss is weighted by the images' classes;
// for mixed images and kBce it is the plain mean over images.
//
// Const members may be called from several threads at once.
class StepLoss {
 public:
  StepLoss(const LossOptions& options, const DistillOptions& distill,
           const torch::Device& device);

  // Whether the loss's mean is over the weights of the images' classes. The
  // same for all batches of a run.
  [[nodiscard]] bool weighs_images(const TrainBatch& batch) const;
  // The sum of these weights over the slots that count. Requires:
  // weighs_images().
  [[nodiscard]] torch::Tensor SumWeights(const TrainBatch& batch) const;

  // The loss of each slot against its label or mixed labels, [N]. kBce is
  // timm's BinaryCrossEntropy.
  [[nodiscard]] torch::Tensor OfSlots(const torch::Tensor& logits,
                                      const TrainBatch& batch) const;

  // The contribution of a part of a batch to the batch's mean loss. teacher:
  // the teacher's logits for the same images; undefined: no teacher.
  [[nodiscard]] torch::Tensor Of(const torch::Tensor& logits,
                                 const torch::Tensor& teacher,
                                 const TrainBatch& part,
                                 const BatchDivisors& divisors) const;

 private:
  [[nodiscard]] torch::Tensor Distillation(const torch::Tensor& logits,
                                           const torch::Tensor& teacher) const;

  LossOptions options_;
  DistillOptions distill_;
  torch::Tensor class_weights_;  // float32 [classes]; undefined: none
};

}  // namespace infeed
