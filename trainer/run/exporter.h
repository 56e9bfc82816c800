#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/job/run_options.h"
#include "trainer/model_dir/model_labels.h"
#include "trainer/params/train_params.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

struct ExportOptions {
  std::string export_dir;  // each export gets its own folder in it
  // "onnx", "safetensors", "torchscript"; empty: the first two.
  std::vector<std::string> formats = {};
  int batch_size = 0;  // of model.onnx; 0: any
};

// A trained model, and the facts that its users need.
struct FinishedModel {
  const TrainParams& params;                      // resolved
  const ModelLabels& labels;                      // may be empty
  std::int64_t step = 0;                          // updates done
  const TensorMap& weights;                       // parameters and buffers
  std::vector<std::int64_t> averaged_steps = {};  // as in PreprocessingJson()
};

// Throws UsageError for an unknown format, IoError where export_dir cannot be
// written.
void RequireExportable(const RunOptions& options);

// Writes EXPORT_DIR/<unix seconds>/ with a file for each format, model.onnx,
// model.safetensors, model.torchscript, and preprocessing.json; all files or
// none. docs/models.md describes them. Returns the folder. Throws UsageError
// for an unknown format, DataError for weights of another model, IoError.
std::string ExportModel(const ExportOptions& options,
                        const FinishedModel& model);

}  // namespace infeed
