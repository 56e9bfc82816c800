#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/options/options.h"
#include "trainer/model/options.h"
#include "trainer/results/model_labels.h"

// Describes an exported model to its users: how to preprocess images for it,
// and the meaning of its outputs.
namespace infeed {

struct PreprocessingFacts {
  ModelOptions model = {};
  InputOptions input = {};  // of evaluations; label_offset is set
  Normalization normalization = Normalization::kImagenet;
  bool moving_average = false;  // the weights are moving averages
  ModelLabels labels = {};      // may be empty
  std::int64_t step = 0;        // updates done
  // The steps of the checkpoints whose mean the model is, or none.
  std::vector<std::int64_t> averaged_steps = {};
};

// The text of preprocessing.json: the recipe's preprocessing in evaluation,
// step by step; docs/models.md has its keys.
[[nodiscard]] std::string PreprocessingJson(const PreprocessingFacts& facts);

}  // namespace infeed
