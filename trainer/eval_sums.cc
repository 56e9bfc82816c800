#include "trainer/eval_sums.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace infeed {

void EvalSums::Add(const EvalSums& other) {
  if (other.classes == 0) {
    return;
  }
  if (classes == 0) {
    *this = other;
    return;
  }
  Check(classes == other.classes, "sums of the same model");
  images += other.images;
  top_1 += other.top_1;
  top_5 += other.top_5;
  loss_sum += other.loss_sum;
  std::ranges::transform(confusion, other.confusion, confusion.begin(),
                         std::plus<>());
  scores.insert(scores.end(), other.scores.begin(), other.scores.end());
  labels.insert(labels.end(), other.labels.begin(), other.labels.end());
  has_scores = has_scores && other.has_scores &&
               static_cast<std::int64_t>(scores.size()) <= kMaxScores;
  if (!has_scores) {
    scores = {};
    labels = {};
  }
}

}  // namespace infeed
