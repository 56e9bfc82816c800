#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"

namespace infeed {

// The mean of the weights of several checkpoints (a uniform "model soup").
struct AveragedWeights {
  TensorMap weights;                // named as ModelState::model
  std::vector<std::int64_t> steps;  // of the checkpoints, ascending
};

// The mean of the last `count` checkpoints of a model directory up to this
// step. Every float tensor is averaged, also moving means and variances, and
// rounded to float once; integers, which count batches, are those of the last
// checkpoint. Throws UsageError where there are fewer checkpoints or where
// their tensors differ in name, type or shape; DataError for a damaged one.
// Requires: count > 0.
[[nodiscard]] AveragedWeights AverageCheckpoints(const std::string& model_dir,
                                                 std::int64_t last_step,
                                                 int count);

}  // namespace infeed
