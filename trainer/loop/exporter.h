#pragma once

#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"
#include "trainer/formats/model_graph.h"
#include "trainer/formats/preprocessing_json.h"

namespace infeed {

struct ExportOptions {
  std::string export_dir;  // each export gets its own folder in it
  // "onnx", "safetensors", "torchscript"; empty: the first two.
  std::vector<std::string> formats = {};
  int batch_size = 0;  // of model.onnx; 0: any
};

// Throws UsageError for an unknown format.
void CheckFormats(const std::vector<std::string>& formats);

// Writes EXPORT_DIR/<unix seconds>/ with a file for each format, model.onnx,
// model.safetensors, model.torchscript, and preprocessing.json; all files or
// none. docs/models.md describes them. weights: parameters and buffers. Returns
// the folder. Throws UsageError for an unknown format, DataError for weights of
// another model, IoError.
std::string ExportModel(const ExportOptions& options,
                        const PreprocessingFacts& facts,
                        const TensorMap& weights);

// The graph as the bytes of a TorchScript file, which torch.jit.load() reads,
// in Python and in C++, without this program's code. Its state_dict() has the
// graph's weights under their names.
[[nodiscard]] std::string TorchScriptBytes(const InferenceGraph& graph);

}  // namespace infeed
