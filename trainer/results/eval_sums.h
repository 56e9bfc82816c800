#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// A confusion matrix is kept for at most this number of classes: 8 MiB.
inline constexpr int kMaxConfusionClasses = 1024;
// Scores are kept up to this number, images * classes: 64 MiB.
inline constexpr std::int64_t kMaxScores = std::int64_t{16} << 20;

// Sums of an evaluation over the images of weight 1 whose label is a class. The
// sums of the parts of a data set add up to the sums of the whole: each rank
// computes its own, and the total becomes an EvalResult.
struct EvalSums {
  std::int64_t images = 0;
  std::int64_t top_1 = 0;
  std::int64_t top_5 = 0;
  double loss_sum = 0;  // cross-entropy as in training, without the L2 term

  int classes = 0;
  // Number of images for each label (row) and predicted class (column),
  // row-major; empty beyond kMaxConfusionClasses.
  std::vector<std::int64_t> confusion = {};
  // The probability of each class for each image, row-major [images, classes],
  // and each image's label; both empty once there are more than kMaxScores.
  std::vector<float> scores = {};
  std::vector<std::int32_t> labels = {};
  bool has_scores = true;  // scores and labels are those of all images

  // Requires: both have the same number of classes, or one has no images.
  void Add(const EvalSums& other);
  // Drops the scores and labels of single images.
  void DropScores();
};

// The sums as bytes, for another process on a machine of the same kind, and
// back. ParseEvalSums throws IoError for what ToBytes did not write.
[[nodiscard]] std::string ToBytes(const EvalSums& sums);
[[nodiscard]] EvalSums ParseEvalSums(std::string_view bytes);

}  // namespace infeed
