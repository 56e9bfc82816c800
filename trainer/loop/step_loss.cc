#include "trainer/loop/step_loss.h"

#include <cstdint>

#include <ATen/ATen.h>

#include "trainer/network/loss.h"

namespace infeed {
namespace {

torch::Tensor MixedTargets(const TrainBatch& batch, std::int64_t classes,
                           double smoothing) {
  const torch::Tensor own = Targets(batch.labels, classes, smoothing);
  return batch.partner_labels.defined()
             ? torch::lerp(Targets(batch.partner_labels, classes, smoothing),
                           own, batch.label_share.unsqueeze(1))
             : own;
}

torch::Tensor CrossEntropyOf(const torch::Tensor& logits,
                             const TrainBatch& batch, double smoothing,
                             const torch::Tensor& class_weights) {
  const torch::Tensor own =
      CrossEntropy(logits, batch.labels, smoothing, class_weights);
  if (!batch.partner_labels.defined()) {
    return own;
  }
  // The target is linear in the labels, and the loss in the target.
  return torch::lerp(
      CrossEntropy(logits, batch.partner_labels, smoothing, class_weights), own,
      batch.label_share);
}

}  // namespace

StepLoss::StepLoss(const LossOptions& options, const DistillOptions& distill,
                   const torch::Device& device)
    : options_(options), distill_(distill) {
  if (!options.class_weights.empty()) {
    class_weights_ =
        torch::tensor(options.class_weights, torch::kFloat).to(device);
  }
}

bool StepLoss::weighs_images(const TrainBatch& batch) const {
  return class_weights_.defined() && options_.kind == LossKind::kSoftmax &&
         !batch.partner_labels.defined();
}

torch::Tensor StepLoss::SumWeights(const TrainBatch& batch) const {
  return MaskedSum(WeightsOfLabels(batch.labels, class_weights_),
                   batch.counted);
}

torch::Tensor StepLoss::OfSlots(const torch::Tensor& logits,
                                const TrainBatch& batch) const {
  if (options_.kind == LossKind::kSoftmax) {
    return CrossEntropyOf(logits, batch, options_.label_smoothing,
                          class_weights_);
  }
  torch::Tensor targets =
      MixedTargets(batch, logits.size(1), options_.label_smoothing);
  if (options_.target_threshold > 0) {
    targets = targets.gt(options_.target_threshold).to(torch::kFloat);
  }
  return BinaryCrossEntropy(logits, targets, class_weights_).mean(1);
}

torch::Tensor StepLoss::Distillation(const torch::Tensor& logits,
                                     const torch::Tensor& teacher) const {
  return distill_.temperature > 0
             ? SoftDistillation(logits, teacher, distill_.temperature)
             : CrossEntropy(logits, teacher.argmax(1), 0);
}

torch::Tensor StepLoss::Of(const torch::Tensor& logits,
                           const torch::Tensor& teacher, const TrainBatch& part,
                           const BatchDivisors& divisors) const {
  const torch::Tensor loss =
      MaskedSum(OfSlots(logits, part), part.counted) / divisors.loss;
  if (!teacher.defined()) {
    return loss;
  }
  const torch::Tensor distillation =
      MaskedSum(Distillation(logits, teacher), part.counted) / divisors.images;
  return loss * (1 - distill_.weight) + distillation * distill_.weight;
}

}  // namespace infeed
