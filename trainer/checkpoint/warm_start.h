#pragma once

#include <string>

#include "trainer/model/options.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

// The result of initializing a model with existing weights.
struct WarmStarted {
  std::string text;  // lines about the weights taken and those left
  // "the classifier fc is [1000, 512] in the file and [10, 512] in the model":
  // why the classifier keeps its new weights; empty: its weights were taken.
  std::string head_left;
};

// Replaces a new model's weights by those at a path (weights_file.h). The last
// linear layer keeps its new weights unless all its tensors fit: fine-tuning
// usually changes the number of classes. num_batches_tracked stays, too, where
// a file lacks it. Every other tensor must be present and fit.
//
// Throws DataError, naming the tensors, when one is missing or has another
// shape; then, and when the weights cannot be read, nothing is replaced.
[[nodiscard]] WarmStarted WarmStart(const std::string& path,
                                    const ModelOptions& model,
                                    TensorMap& weights);

}  // namespace infeed
