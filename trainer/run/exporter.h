#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/model_dir/model_labels.h"
#include "trainer/params/train_params.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

struct ExportOptions {
  std::string export_dir;  // gets a folder of its own for each export
  // Of "onnx", "safetensors" and "torchscript"; none: the first two.
  std::vector<std::string> formats = {};
  int batch_size = 0;  // of model.onnx; 0: any
};

// A trained model, and what its users must know of it.
struct FinishedModel {
  const TrainParams& params;  // resolved
  const ModelLabels& labels;  // perhaps none
  std::int64_t step = 0;      // updates done
  const TensorMap& weights;   // parameters and buffers
};

// Writes EXPORT_DIR/<unix seconds>/ with a file for each format, model.onnx,
// model.safetensors, model.torchscript, and preprocessing.json; all of it or
// nothing. docs/export.md says what is in them. Returns the folder. Throws
// UsageError for an unknown format, DataError for weights of another model,
// IoError.
std::string ExportModel(const ExportOptions& options,
                        const FinishedModel& model);

}  // namespace infeed
