#pragma once

#include <string>
#include <vector>

#include "trainer/model/layer_plan.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

// Weights found at a path, by our names.
struct FoundWeights {
  std::string what;  // "torch.save() file PATH", for people
  TensorMap tensors;
};

// Reads the weights at a path, written by this program or by others:
//
//   a model directory of ours              its newest undamaged checkpoint
//   a checkpoint folder of ours
//   a folder with TensorFlow's `checkpoint` file, or a checkpoint's prefix
//   a safetensors file
//   a file of torch.save()
//
// The numbering of a TensorFlow checkpoint's variables follows from the layers.
// Throws UsageError for a folder that has none of these, DataError naming the
// file for damaged ones, IoError for a file that cannot be read.
[[nodiscard]] FoundWeights ReadWeights(const std::string& path,
                                       const std::vector<LayerPlan>& layers);

}  // namespace infeed
