#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/results/prediction.h"

namespace infeed {

// A model's prediction for one image.
struct ShownPrediction {
  std::int64_t record = 0;
  std::int32_t predicted = 0;  // the most probable class
  float probability = 0;
  std::optional<std::int32_t> label = {};  // where it is a class of the model
};

// Chooses the images that a page of predictions shows: the wrong predictions
// with the highest probability, and right predictions chosen by a hash, the
// same for the same data. Bad images are left out.
//
// One thread at a time.
class PredictionSample {
 public:
  // most: the number of images of each kind.
  PredictionSample(int num_classes, std::size_t most)
      : num_classes_(num_classes), most_(most) {}

  // Call it with the batches in the order of the records, from the first on.
  void Add(const Predictions& batch);

  // The highest probability first.
  [[nodiscard]] std::vector<ShownPrediction> wrong() const;
  // In the order of the records.
  [[nodiscard]] std::vector<ShownPrediction> right() const;
  [[nodiscard]] std::vector<ShownPrediction> unlabelled() const;

 private:
  // The predictions with the least keys; the record orders equal keys.
  using Kind = std::map<std::pair<double, std::int64_t>, ShownPrediction>;

  void Keep(double key, const ShownPrediction& shown, Kind& kind) const;

  int num_classes_;
  std::size_t most_;
  std::int64_t next_ = 0;  // record
  Kind wrong_;
  Kind right_;
  Kind unlabelled_;
};

}  // namespace infeed
