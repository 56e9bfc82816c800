#pragma once

#include <string>
#include <vector>

#include "trainer/model/layer_plan.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

// Weights found under a path, by our names.
struct FoundWeights {
  std::string what;  // "torch.save() file PATH", for people
  TensorMap tensors;
};

// Reads the weights that a path stands for, whoever wrote them:
//
//   a model folder of ours                 its newest checkpoint that is whole
//   a checkpoint folder of ours
//   a folder with TensorFlow's `checkpoint` file, or a checkpoint's prefix
//   a safetensors file
//   a file of torch.save()
//
// The layers say how a TensorFlow checkpoint's variables are numbered. Throws
// UsageError for a folder that holds none of these, DataError naming the file
// for damaged ones, IoError for what cannot be read.
[[nodiscard]] FoundWeights ReadWeights(const std::string& path,
                                       const std::vector<LayerPlan>& layers);

}  // namespace infeed
