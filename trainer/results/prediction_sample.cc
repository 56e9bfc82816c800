#include "trainer/results/prediction_sample.h"

#include <algorithm>
#include <iterator>

#include "base/random.h"

namespace infeed {
namespace {

// A pseudo-random number from the record, unrelated to its position.
double Drawn(std::int64_t record) {
  return Philox4x32({static_cast<std::uint32_t>(record),
                     static_cast<std::uint32_t>(record >> 32)},
                    {})[0];
}

template <typename Kind>
std::vector<ShownPrediction> Listed(const Kind& kind) {
  std::vector<ShownPrediction> list;
  for (const auto& [key, shown] : kind) {
    list.push_back(shown);
  }
  return list;
}

std::vector<ShownPrediction> InOrder(std::vector<ShownPrediction> list) {
  std::ranges::sort(list, {}, &ShownPrediction::record);
  return list;
}

}  // namespace

void PredictionSample::Add(const Predictions& batch) {
  for (int slot = 0; slot < batch.size(); ++slot) {
    ShownPrediction shown = {
        .record = next_++,
        .predicted = batch.classes_of(slot).front(),
        .probability = batch.probabilities_of(slot).front()};
    if (batch.weights[static_cast<std::size_t>(slot)] == 0) {
      continue;
    }
    const std::int32_t label = batch.labels[static_cast<std::size_t>(slot)];
    if (label < 0 || label >= num_classes_) {
      Keep(Drawn(shown.record), shown, unlabelled_);
      continue;
    }
    shown.label = label;
    if (shown.predicted == label) {
      Keep(Drawn(shown.record), shown, right_);
    } else {
      Keep(-shown.probability, shown, wrong_);
    }
  }
}

void PredictionSample::Keep(double key, const ShownPrediction& shown,
                            Kind& kind) const {
  kind.emplace(std::pair(key, shown.record), shown);
  if (kind.size() > most_) {
    kind.erase(std::prev(kind.end()));
  }
}

std::vector<ShownPrediction> PredictionSample::wrong() const {
  return Listed(wrong_);
}

std::vector<ShownPrediction> PredictionSample::right() const {
  return InOrder(Listed(right_));
}

std::vector<ShownPrediction> PredictionSample::unlabelled() const {
  return InOrder(Listed(unlabelled_));
}

}  // namespace infeed
