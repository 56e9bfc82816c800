#include "trainer/loop/eval.h"

#include <algorithm>
#include <tuple>

#include <ATen/ATen.h>

#include "trainer/network/loss.h"

namespace infeed {
namespace {

constexpr std::int64_t kTop = 5;

template <typename T>
std::vector<T> ToVector(const torch::Tensor& tensor) {
  const torch::Tensor host = tensor.to(torch::kCPU).contiguous();
  const auto* data = host.data_ptr<T>();
  return {data, data + host.numel()};
}

}  // namespace

EvalCounter::EvalCounter(const torch::Device& device, int classes,
                         double smoothing, std::int64_t max_scores)
    : classes_(classes),
      smoothing_(smoothing),
      max_scores_(max_scores),
      sums_(torch::zeros({4}, torch::device(device).dtype(torch::kDouble))) {
  if (classes <= kMaxConfusionClasses) {
    confusion_ = torch::zeros({std::int64_t{classes} * classes},
                              torch::device(device).dtype(torch::kLong));
  }
}

void EvalCounter::Count(const torch::Tensor& logits, const DeviceBatch& batch) {
  const torch::Tensor exact = logits.to(torch::kFloat);
  const torch::Tensor counted =
      CountedSlots(batch.labels, batch.weights, classes_);
  // argmax takes a NaN for the highest.
  const torch::Tensor finite = exact.isfinite().all(1);
  const torch::Tensor rows =
      torch::stack({counted, InTop1(exact, batch.labels).mul(finite),
                    InTop5(exact, batch.labels),
                    CrossEntropy(exact, batch.labels, smoothing_)});
  sums_.add_(torch::where(counted.ne(0), rows, torch::zeros_like(rows))
                 .sum(1, /*keepdim=*/false, torch::kDouble));
  Confuse(torch::where(finite, exact.argmax(1), batch.labels.add(1)),
          batch.labels, counted);
}

void EvalCounter::Restart() {
  sums_.zero_();
  if (confusion_.defined()) {
    confusion_.zero_();
  }
  kept_ = 0;
  scores_.clear();
  labels_.clear();
}

void EvalCounter::Confuse(const torch::Tensor& said,
                          const torch::Tensor& labels,
                          const torch::Tensor& counted) {
  if (!confusion_.defined()) {
    return;
  }
  const torch::Tensor row = labels.clamp(0, classes_ - 1);
  confusion_.scatter_add_(0, row.mul(classes_).add_(said.remainder(classes_)),
                          counted.to(torch::kLong));
}

void EvalCounter::KeepScores(const torch::Tensor& logits,
                             const DeviceBatch& batch) {
  kept_ += logits.numel();
  if (kept_ > max_scores_) {
    scores_.clear();
    labels_.clear();
    return;
  }
  const torch::Tensor counted =
      CountedSlots(batch.labels, batch.weights, classes_);
  scores_.push_back(torch::softmax(logits.to(torch::kFloat), 1));
  labels_.push_back(torch::where(counted.ne(0), batch.labels,
                                 torch::full_like(batch.labels, -1)));
}

EvalSums EvalCounter::Read() const {
  const std::vector<double> values = ToVector<double>(sums_);
  EvalSums sums = {.images = static_cast<std::int64_t>(values[0]),
                   .top_1 = static_cast<std::int64_t>(values[1]),
                   .top_5 = static_cast<std::int64_t>(values[2]),
                   .loss_sum = values[3],
                   .classes = classes_,
                   .has_scores = kept_ <= max_scores_};
  if (confusion_.defined()) {
    sums.confusion = ToVector<std::int64_t>(confusion_);
  }
  if (!scores_.empty()) {
    ReadScores(sums);
  }
  return sums;
}

void EvalCounter::ReadScores(EvalSums& sums) const {
  const torch::Tensor labels = torch::cat(labels_);
  const torch::Tensor counted = labels.ge(0);
  sums.labels =
      ToVector<std::int32_t>(labels.masked_select(counted).to(torch::kInt));
  sums.scores =
      ToVector<float>(torch::cat(scores_).masked_select(counted.unsqueeze(1)));
}

torch::Tensor MeanLogits(
    const std::function<torch::Tensor(const torch::Tensor& images)>& forward,
    const torch::Tensor& images, const EvalViews& views) {
  torch::Tensor logits = forward(images);
  if (views.flip) {
    logits = logits.to(torch::kFloat)
                 .add(forward(images.flip({3})).to(torch::kFloat))
                 .mul_(0.5);
  }
  return views.crops == 1 ? logits
                          : logits.to(torch::kFloat)
                                .reshape({-1, views.crops, logits.size(1)})
                                .mean(1);
}

DeviceBatch LabelsOfImages(const DeviceBatch& batch, int crops) {
  return {.images = {},
          .labels = batch.labels.reshape({-1, crops}).amin(1),
          .weights = batch.weights.reshape({-1, crops}).amin(1)};
}

Predictions PredictionsOf(const torch::Tensor& logits,
                          const torch::Tensor& labels) {
  const torch::Tensor exact = logits.to(torch::kFloat);
  const torch::Tensor order =
      std::get<1>(exact.sort(/*stable=*/true, /*dim=*/1, /*descending=*/true));
  const std::int64_t top = std::min(kTop, exact.size(1));
  const torch::Tensor classes = order.narrow(1, 0, top);
  return {.top = static_cast<int>(top),
          .classes = ToVector<std::int32_t>(classes.to(torch::kInt)),
          .probabilities =
              ToVector<float>(torch::softmax(exact, 1).gather(1, classes)),
          .losses = ToVector<float>(CrossEntropy(exact, labels, 0))};
}

}  // namespace infeed
