#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pixel_statistics.h"
#include "trainer/formats/host_tensor.h"
#include "trainer/model/options.h"

namespace infeed {

// A trained network as plain data: each node's operation and inputs. The
// writers of ONNX and TorchScript translate it.

// All operands are float32 tensors. "Constant" operands are weights of the
// graph.
enum class GraphOp {
  kSubtract,  // x, constant that broadcasts
  kDivide,    // x, constant that broadcasts
  // x, weight [out, in / groups, k, k], then perhaps bias [out]
  kConvolution,
  // x [N, C, 1, 1], weight [1, 1, k, 1]: a convolution along the channels,
  // padded with zeros so that there are as many
  kChannelConvolution,
  kBatchNorm,          // x, scale, shift, mean, variance
  kRelu,               // x
  kSigmoid,            // x
  kMaxPool,            // x
  kAveragePool,        // x; padding does not count
  kReflectPad,         // x [N, C, H, W]; the edge itself is not repeated
  kGlobalAveragePool,  // x [N, C, H, W] -> [N, C, 1, 1]
  kAdd,                // x, y of one shape
  kScaleChannels,      // x [N, C, H, W], y [N, C, 1, 1]: the product
  kFlatten,            // x [N, ...] -> [N, the rest]
  kLinear,             // x [N, in], weight [out, in], bias [out]
};

// The window of convolutions and pools, and the padding of kReflectPad: square,
// the same in both directions but for pad_left.
struct GraphWindow {
  int kernel = 1;
  int stride = 1;
  int pad_before = 0;
  int pad_after = 0;
  // The columns' pad_before of a max pool, if it differs from the rows'.
  std::optional<int> pad_left = {};
  // A last window that is partly outside gives an output, too.
  bool partial = false;

  [[nodiscard]] int left() const { return pad_left.value_or(pad_before); }
};

struct GraphNode {
  GraphOp op = GraphOp::kRelu;
  std::vector<std::string> inputs;  // earlier nodes' outputs and weights
  std::string output;               // the node's own name, too
  GraphWindow window = {};
  int groups = 1;     // of kConvolution
  float epsilon = 0;  // of kBatchNorm
};

struct InferenceGraph {
  // The input: float32 [N, channels, height, width].
  int channels = 3;
  ImageSize image_size = 224;
  std::string input = "images";
  std::vector<GraphNode> nodes = {};  // each after its inputs
  std::string output = "logits";      // of the last node: float32 [N, classes]
  std::int64_t classes = 0;
  TensorMap weights = {};  // by the names in nodes' inputs
};

// The input of a trained model: RGB values of 0 to 255, which the graph
// normalizes to (value - mean) / std in each channel.
struct GraphInput {
  ImageSize image_size = 224;
  PixelStatistics statistics = kImagenetStatistics;
};

// The network of the weights, from pixels to logits, in evaluation mode: batch
// norms use their moving statistics, nothing is dropped. A LeNet uses only the
// first channel. Throws DataError when the weights are those of another model,
// UsageError for impossible options.
[[nodiscard]] InferenceGraph BuildGraph(const ModelOptions& options,
                                        const TensorMap& weights,
                                        const GraphInput& input);

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

// The source of a TorchScript method, forward(self, images), for the graph, in
// Python's syntax. The weight "layer1.0.conv1.weight" is an attribute of nested
// modules: getattr(getattr(self, "layer1"), "0") and so on.
[[nodiscard]] std::string TorchScriptSource(const InferenceGraph& graph);

}  // namespace infeed
