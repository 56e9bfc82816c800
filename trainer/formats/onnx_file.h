#pragma once

#include <map>
#include <string>

#include "trainer/formats/model_graph.h"

namespace infeed {

struct OnnxOptions {
  // Batch size of the graph's input; 0: any (a dimension named "N").
  int batch_size = 0;
  std::map<std::string, std::string> metadata = {};  // the model's properties
};

// The bytes of an ONNX file: IR version 7, operator set 13, which OpenCV 4.6's
// dnn module, onnxruntime and ONNX's checker since 1.8 accept. Weights have
// their names in the graph. Throws DataError for a model larger than the 2 GB
// that the format's messages can hold.
[[nodiscard]] std::string OnnxBytes(const InferenceGraph& graph,
                                    const OnnxOptions& options = {});

}  // namespace infeed
