#pragma once

#include <string>

#include "trainer/model/options.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

// What a new model took of others' weights.
struct WarmStarted {
  std::string text;  // lines that say what was taken and what was left
  // "the classifier fc is [1000, 512] there and [10, 512] in the model": why it
  // keeps its new weights; empty: it was taken.
  std::string head_left;
};

// Replaces a new model's weights by those under a path (weights_file.h), and
// returns what was taken and what was left. The last linear
// layer keeps its new weights unless all of it fits: another number of classes
// is what fine-tuning is for. Counters of batches that other programs do not
// keep stay, too. Every other tensor must be there and fit.
//
// Throws DataError, naming the tensors, when one is missing or has another
// shape; then, and when the weights cannot be read, nothing is replaced.
[[nodiscard]] WarmStarted WarmStart(const std::string& path,
                                    const ModelOptions& model,
                                    TensorMap& weights);

}  // namespace infeed
