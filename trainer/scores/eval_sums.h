#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// A confusion matrix is kept up to so many classes: 8 MiB.
inline constexpr int kMaxConfusionClasses = 1024;
// Scores are kept up to so many numbers, images * classes: 64 MiB.
inline constexpr std::int64_t kMaxScores = std::int64_t{16} << 20;

// What an evaluation adds up, over the images of weight 1 whose label is a
// class. Sums of parts of a data set add up to the sums of the whole: each rank
// makes its own, they are added, and only then become an EvalResult.
struct EvalSums {
  std::int64_t images = 0;
  std::int64_t top_1 = 0;
  std::int64_t top_5 = 0;
  double loss_sum = 0;  // cross-entropy as in training, without the L2 term

  int classes = 0;
  // Images of each label (row) by what was said (column), row-major; empty
  // beyond kMaxConfusionClasses.
  std::vector<std::int64_t> confusion = {};
  // The probability of each class for each image, row-major [images, classes],
  // and each image's label; both empty once there are too many.
  std::vector<float> scores = {};
  std::vector<std::int32_t> labels = {};
  bool has_scores = true;  // they are of all the images

  // Requires: of the same classes, or one of them has seen nothing.
  void Add(const EvalSums& other);
  // Leaves out what is known of each image.
  void DropScores();
};

// The sums as bytes, for another process on a machine of the same kind, and
// back. EvalSumsOf throws IoError for what BytesOf did not write.
[[nodiscard]] std::string BytesOf(const EvalSums& sums);
[[nodiscard]] EvalSums EvalSumsOf(std::string_view bytes);

}  // namespace infeed
