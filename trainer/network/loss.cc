#include "trainer/network/loss.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>

namespace infeed {
namespace {

// Labels as [N, 1] for gather(). A label that is not a class is clamped to one;
// its slot does not count.
torch::Tensor Index(const torch::Tensor& labels, std::int64_t classes) {
  return labels.clamp(0, classes - 1).unsqueeze(1);
}

}  // namespace

torch::Tensor CountedSlots(const torch::Tensor& labels,
                           const torch::Tensor& weights, std::int64_t classes) {
  const torch::Tensor known = labels.ge(0).logical_and_(labels.lt(classes));
  return weights.ne(0).logical_and_(known).to(torch::kFloat);
}

torch::Tensor CrossEntropy(const torch::Tensor& logits,
                           const torch::Tensor& labels, double smoothing,
                           const torch::Tensor& class_weights) {
  torch::Tensor log_probabilities =
      torch::log_softmax(logits, 1, torch::kFloat);
  if (class_weights.defined()) {
    log_probabilities = log_probabilities * class_weights;
  }
  const torch::Tensor of_label =
      log_probabilities.gather(1, Index(labels, logits.size(1))).squeeze(1);
  if (smoothing == 0) {
    return -of_label;
  }
  return -(of_label * (1 - smoothing) + log_probabilities.mean(1) * smoothing);
}

torch::Tensor Targets(const torch::Tensor& labels, std::int64_t classes,
                      double smoothing) {
  const double rest = smoothing / static_cast<double>(classes);
  return torch::full({labels.size(0), classes}, rest,
                     labels.options().dtype(torch::kFloat))
      .scatter_(1, Index(labels, classes), 1 - smoothing + rest);
}

torch::Tensor BinaryCrossEntropy(const torch::Tensor& logits,
                                 const torch::Tensor& targets,
                                 const torch::Tensor& class_weights) {
  return at::binary_cross_entropy_with_logits(logits.to(torch::kFloat), targets,
                                              class_weights, {},
                                              at::Reduction::None);
}

torch::Tensor WeightsOfLabels(const torch::Tensor& labels,
                              const torch::Tensor& class_weights) {
  return class_weights.index_select(
      0, Index(labels, class_weights.size(0)).squeeze(1));
}

torch::Tensor SoftDistillation(const torch::Tensor& logits,
                               const torch::Tensor& teacher,
                               double temperature) {
  const auto softened = [&](const torch::Tensor& of) {
    return torch::log_softmax(of.to(torch::kFloat) / temperature, 1);
  };
  return at::kl_div(softened(logits), softened(teacher), at::Reduction::None,
                    /*log_target=*/true)
      .sum(1)
      .mul(temperature * temperature);
}

torch::Tensor InTop1(const torch::Tensor& logits, const torch::Tensor& labels) {
  return logits.argmax(1).eq(labels).to(torch::kFloat);
}

torch::Tensor InTop5(const torch::Tensor& logits, const torch::Tensor& labels) {
  const torch::Tensor of_label =
      logits.gather(1, Index(labels, logits.size(1)));
  const torch::Tensor better = logits.gt(of_label).sum(1);
  return better.lt(5).logical_and_(logits.isfinite().all(1)).to(torch::kFloat);
}

torch::Tensor CountSlots(const torch::Tensor& counted) {
  return counted.sum().clamp_min(1);
}

torch::Tensor MaskedSum(const torch::Tensor& values,
                        const torch::Tensor& counted) {
  // A slot that does not count may hold NaN, which times 0 would spread.
  return torch::where(counted.ne(0), values, torch::zeros_like(values)).sum();
}

}  // namespace infeed
