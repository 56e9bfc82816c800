#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/log/pictures.h"
#include "trainer/model_dir/model_labels.h"
#include "trainer/scores/prediction_log.h"
#include "trainer/scores/prediction_sample.h"

namespace infeed {

// What a page of predictions shows.
struct PredictionPageData {
  PredictionCounts counts = {};
  std::vector<ShownPrediction> wrong = {};
  std::vector<ShownPrediction> right = {};
  std::vector<ShownPrediction> unlabelled = {};
  // By record; an image without one is left out.
  std::map<std::int64_t, WebPicture> pictures = {};
  std::map<std::int64_t, std::string> names = {};  // where each one comes from
};

// An HTML page that needs no other file: how many predictions are right, and
// images with the class that the model said and its probability, the wrong ones
// first, red, with the class that they are, then the right ones, green.
[[nodiscard]] std::string PredictionPage(const PredictionPageData& data,
                                         const ModelLabels& labels);

}  // namespace infeed
