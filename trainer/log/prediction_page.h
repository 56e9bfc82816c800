#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/log/pictures.h"
#include "trainer/results/model_labels.h"
#include "trainer/results/prediction_log.h"

namespace infeed {

struct PredictionPageData {
  PredictionCounts counts = {};
  std::vector<ShownPrediction> wrong = {};
  std::vector<ShownPrediction> right = {};
  std::vector<ShownPrediction> unlabelled = {};
  // By record; a prediction without a picture is left out.
  std::map<std::int64_t, WebPicture> pictures = {};
  std::map<std::int64_t, std::string> names = {};  // origins, by record
  std::vector<BadImage> bad = {};                  // the first ones
};

// A self-contained HTML page: how many predictions are right, and images with
// the predicted class and its probability, and its name; first the wrong ones,
// in red, with their actual class, then the right ones, in green; at the end
// the bad images and their errors.
[[nodiscard]] std::string PredictionPage(const PredictionPageData& data,
                                         const ModelLabels& labels);

}  // namespace infeed
