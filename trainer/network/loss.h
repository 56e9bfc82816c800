#pragma once

#include <cstdint>

#include <torch/types.h>

// Loss and metrics of a batch, as tensors on its device; no value is copied to
// the host. logits are [N, classes], labels int64 [N], weights float [N].
namespace infeed {

// The slots that count: 1 where the weight is 1 and the label is a class, else
// 0; float [N]. The functions below accept any label; their values are
// meaningless where this is 0.
[[nodiscard]] torch::Tensor CountedSlots(const torch::Tensor& labels,
                                         const torch::Tensor& weights,
                                         std::int64_t classes);

// Softmax cross-entropy of each slot, [N], computed in float32, against the
// target onehot * (1 - smoothing) + smoothing / classes. class_weights: float
// [classes], factors of the classes' terms; undefined: all are 1.
[[nodiscard]] torch::Tensor CrossEntropy(
    const torch::Tensor& logits, const torch::Tensor& labels, double smoothing,
    const torch::Tensor& class_weights = {});

// The targets [N, classes] of CrossEntropy(), float32.
[[nodiscard]] torch::Tensor Targets(const torch::Tensor& labels,
                                    std::int64_t classes, double smoothing);

// Binary cross-entropy of each logit's sigmoid against its target, [N,
// classes], computed in float32. class_weights: as of CrossEntropy().
[[nodiscard]] torch::Tensor BinaryCrossEntropy(
    const torch::Tensor& logits, const torch::Tensor& targets,
    const torch::Tensor& class_weights = {});

// The weight of each label's class, [N].
[[nodiscard]] torch::Tensor WeightsOfLabels(const torch::Tensor& labels,
                                            const torch::Tensor& class_weights);

// The Kullback-Leibler divergence of the softmax of logits / temperature from
// that of the teacher's logits / temperature, times temperature^2, [N],
// computed in float32. The factor keeps the gradient's length.
[[nodiscard]] torch::Tensor SoftDistillation(const torch::Tensor& logits,
                                             const torch::Tensor& teacher,
                                             double temperature);

// 1 where the label is the class of the highest logit (ties go to the lower
// index), else 0; float [N].
[[nodiscard]] torch::Tensor InTop1(const torch::Tensor& logits,
                                   const torch::Tensor& labels);

// 1 where fewer than five classes have a strictly higher logit than the label's
// class, else 0; 0 where a logit is not finite; float [N].
[[nodiscard]] torch::Tensor InTop5(const torch::Tensor& logits,
                                   const torch::Tensor& labels);

// The number of slots that count, at least 1.
[[nodiscard]] torch::Tensor CountSlots(const torch::Tensor& counted);

// The sum of [N] values over the slots that count.
[[nodiscard]] torch::Tensor MaskedSum(const torch::Tensor& values,
                                      const torch::Tensor& counted);

}  // namespace infeed
