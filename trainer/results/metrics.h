#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/results/eval_result.h"

// Metrics from a confusion matrix and an evaluation's scores: plain arithmetic.
namespace infeed {

// A class's row and column of a confusion matrix.
struct ClassCounts {
  std::int64_t images = 0;     // of this class
  std::int64_t right = 0;      // of these, predicted as this class
  std::int64_t predicted = 0;  // all images predicted as this class

  // nullopt for a class without images.
  [[nodiscard]] std::optional<double> accuracy() const;
};

// The counts of each class. confusion: [classes, classes], rows are labels.
[[nodiscard]] std::vector<ClassCounts> CountClasses(
    std::span<const std::int64_t> confusion, int classes);

// The mean of the values that are present; nullopt where none is.
[[nodiscard]] std::optional<double> MeanOf(
    std::span<const std::optional<double>> values);

// The score of an image for a class, and whether it is of that class.
struct ScoredImage {
  float score = 0;
  bool positive = false;
};

// The ROC curve: for every threshold the fraction of the negatives and of the
// positives at or above it, from (0, 0) to (1, 1), without points on a straight
// line between others. Empty where there is no positive or no negative, or a
// score is NaN.
[[nodiscard]] std::vector<RocPoint> RocCurve(std::vector<ScoredImage> images);

// The area under the ROC curve by Mann and Whitney: the fraction of the pairs
// of a positive and a negative in which the positive has the greater score;
// equal scores count half. nullopt where there is no curve.
[[nodiscard]] std::optional<double> RankAuc(std::vector<ScoredImage> images);

// The area that the PyTorch/XLA guide reports: under the curve with the single
// threshold 0.5, (TPR + TNR) / 2. A score of exactly 0.5 is negative: ties go
// to the first class. nullopt where there is no positive or no negative, or a
// score is NaN.
[[nodiscard]] std::optional<double> ThresholdAuc(
    std::span<const ScoredImage> images);

// Each image's score for one class. scores: [images, classes].
[[nodiscard]] std::vector<ScoredImage> ScoredFor(
    int class_index, std::span<const float> scores,
    std::span<const std::int32_t> labels, int classes);

}  // namespace infeed
