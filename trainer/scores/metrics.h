#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/scores/eval_result.h"

// What a confusion matrix and an evaluation's scores say: plain arithmetic.
namespace infeed {

// The share of each class's images that were said to be of it; nullopt for a
// class without images. confusion: [classes, classes], rows are labels.
[[nodiscard]] std::vector<std::optional<double>> ClassAccuracies(
    std::span<const std::int64_t> confusion, int classes);

// Of those that there are; nullopt where there is none.
[[nodiscard]] std::optional<double> MeanOf(
    std::span<const std::optional<double>> values);

// How far an image was said to be of a class, and whether it is.
struct ScoredImage {
  float score = 0;
  bool positive = false;
};

// The ROC curve: for every threshold the share of the negatives and of the
// positives at or above it, from (0, 0) to (1, 1), points on a straight line
// between others left out. Empty where there is no positive or no negative, or
// a score is not a number.
[[nodiscard]] std::vector<RocPoint> RocCurve(std::vector<ScoredImage> images);

// The area under it, as Mann and Whitney have it: the share of the pairs of a
// positive and a negative in which the positive has the greater score, equal
// scores counted half. nullopt where there is no curve.
[[nodiscard]] std::optional<double> RankAuc(std::vector<ScoredImage> images);

// The area that the PyTorch/XLA guide reports: of the curve through the one
// threshold 0.5, (TPR + TNR) / 2. A score of exactly 0.5 is negative, as the
// first of two equal classes is the one said. nullopt where there is no
// positive or no negative, or a score is not a number.
[[nodiscard]] std::optional<double> ThresholdAuc(
    std::span<const ScoredImage> images);

// The images as one class sees them. scores: [images, classes].
[[nodiscard]] std::vector<ScoredImage> ScoredFor(
    int class_index, std::span<const float> scores,
    std::span<const std::int32_t> labels, int classes);

}  // namespace infeed
