#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <torch/types.h>

#include "trainer/loop/batch.h"
#include "trainer/results/eval_sums.h"
#include "trainer/results/prediction.h"

namespace infeed {

// Sums up an evaluation on the device: no value is copied to the host before
// Read(). One thread at a time.
class EvalCounter {
 public:
  // smoothing: label smoothing, as in training. max_scores: images * classes
  // above which no scores are kept.
  EvalCounter(const torch::Device& device, int classes, double smoothing,
              std::int64_t max_scores = kMaxScores);

  // logits: [N, classes], of any floating type.
  void Add(const torch::Tensor& logits, const DeviceBatch& batch) {
    Count(logits, batch);
    KeepScores(logits, batch);
  }
  // The two parts of Add(). Count() adds to tensors at fixed addresses, so that
  // it can be captured; KeepScores() makes new tensors for each batch.
  void Count(const torch::Tensor& logits, const DeviceBatch& batch);
  void KeepScores(const torch::Tensor& logits, const DeviceBatch& batch);

  // Begins another evaluation, with the same tensors.
  void Restart();

  // Waits for the device.
  [[nodiscard]] EvalSums Read() const;

 private:
  void Confuse(const torch::Tensor& said, const torch::Tensor& labels,
               const torch::Tensor& counted);
  void ReadScores(EvalSums& sums) const;

  int classes_;
  double smoothing_;
  std::int64_t max_scores_;
  torch::Tensor sums_;       // float64: images, top-1, top-5, losses
  torch::Tensor confusion_;  // int64 [classes * classes]; may be undefined
  std::int64_t kept_ = 0;    // numbers in scores_; beyond max_scores_: none
  std::vector<torch::Tensor> scores_;  // float32 [N, classes] of each batch
  std::vector<torch::Tensor> labels_;  // int64 [N]; -1: does not count
};

// The logits of a batch's images, [N / crops, classes]: the means over the
// views of each image, in float32. With a single view they equal forward()'s.
[[nodiscard]] torch::Tensor MeanLogits(
    const std::function<torch::Tensor(const torch::Tensor& images)>& forward,
    const torch::Tensor& images, const EvalViews& views);

// The labels and weights of a batch's images, one per image. The weight is the
// least of its crops' slots: an image counts only if all its crops do.
[[nodiscard]] DeviceBatch LabelsOfImages(const DeviceBatch& batch, int crops);

// Copies the predictions from a batch's logits [N, classes] to the host, with
// the losses against the labels, int64 [N]; the caller sets labels and weights.
[[nodiscard]] Predictions PredictionsOf(const torch::Tensor& logits,
                                        const torch::Tensor& labels);

}  // namespace infeed
