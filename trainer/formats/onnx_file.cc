#include <array>
#include <cstdint>
#include <initializer_list>

#include "base/choices.h"
#include "base/error.h"
#include "trainer/formats/model_graph.h"
#include "trainer/formats/onnx.pb.h"

namespace infeed {
namespace {

constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOperatorSet = 13;
constexpr std::int32_t kFloat = 1;
constexpr std::int32_t kInt64 = 7;

constexpr Choices<GraphOp, 15> kOperators = {
    {{"Sub", GraphOp::kSubtract},
     {"Div", GraphOp::kDivide},
     {"Conv", GraphOp::kConvolution},
     {"Conv", GraphOp::kChannelConvolution},
     {"BatchNormalization", GraphOp::kBatchNorm},
     {"Relu", GraphOp::kRelu},
     {"Sigmoid", GraphOp::kSigmoid},
     {"MaxPool", GraphOp::kMaxPool},
     {"AveragePool", GraphOp::kAveragePool},
     {"Pad", GraphOp::kReflectPad},
     {"GlobalAveragePool", GraphOp::kGlobalAveragePool},
     {"Add", GraphOp::kAdd},
     {"Mul", GraphOp::kScaleChannels},
     {"Flatten", GraphOp::kFlatten},
     {"Gemm", GraphOp::kLinear}}};

onnx::Attribute& AddAttribute(onnx::Node& node, const char* name,
                              onnx::Attribute::Type type) {
  onnx::Attribute& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

void AddInts(onnx::Node& node, const char* name,
             std::initializer_list<std::int64_t> values) {
  AddAttribute(node, name, onnx::Attribute::INTS)
      .mutable_ints()
      ->Add(values.begin(), values.end());
}

void AddInt(onnx::Node& node, const char* name, std::int64_t value) {
  AddAttribute(node, name, onnx::Attribute::INT).set_i(value);
}

void AddWindow(onnx::Node& node, const GraphWindow& window) {
  AddInts(node, "kernel_shape", {window.kernel, window.kernel});
  AddInts(node, "strides", {window.stride, window.stride});
  AddInts(
      node, "pads",
      {window.pad_before, window.left(), window.pad_after, window.pad_after});
  if (window.partial) {
    AddInt(node, "ceil_mode", 1);
  }
}

void AddAttributes(onnx::Node& node, const GraphNode& from) {
  switch (from.op) {
    case GraphOp::kConvolution:
      AddWindow(node, from.window);
      AddInt(node, "group", from.groups);
      break;
    case GraphOp::kChannelConvolution:
      AddInts(node, "kernel_shape", {from.window.kernel, 1});
      AddInts(node, "pads",
              {from.window.pad_before, 0, from.window.pad_after, 0});
      break;
    case GraphOp::kReflectPad:
      AddAttribute(node, "mode", onnx::Attribute::STRING).set_s("reflect");
      break;
    case GraphOp::kMaxPool:
    case GraphOp::kAveragePool:
      AddWindow(node, from.window);
      break;
    case GraphOp::kBatchNorm:
      AddAttribute(node, "epsilon", onnx::Attribute::FLOAT).set_f(from.epsilon);
      break;
    case GraphOp::kFlatten:
      AddInt(node, "axis", 1);
      break;
    case GraphOp::kLinear:
      AddInt(node, "transB", 1);
      break;
    default:  // The others have none.
      break;
  }
}

// Exchanges the channels and the rows.
void AddTranspose(onnx::Graph& graph, const std::string& from,
                  const std::string& to) {
  onnx::Node& node = *graph.add_node();
  node.set_name(to);
  node.set_op_type("Transpose");
  node.add_input(from);
  node.add_output(to);
  AddInts(node, "perm", {0, 2, 1, 3});
}

// A constant operand that is not a model weight.
void AddPads(onnx::Graph& graph, const std::string& name,
             const GraphWindow& window) {
  onnx::Tensor& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(kInt64);
  tensor.add_dims(8);  // before and after, each of N, C, H, W
  const std::array<std::int64_t, 8> pads = {
      0, 0, window.pad_before, window.pad_before,
      0, 0, window.pad_after,  window.pad_after};
  tensor.set_raw_data(pads.data(), sizeof(pads));
}

void AddNode(onnx::Graph& graph, const GraphNode& from) {
  const bool is_transposed = from.op == GraphOp::kChannelConvolution;
  std::vector<std::string> inputs = from.inputs;
  std::string output = from.output;
  if (is_transposed) {
    inputs[0] = output + ".rows";
    AddTranspose(graph, from.inputs[0], inputs[0]);
    output += ".attention";
  } else if (from.op == GraphOp::kReflectPad) {
    inputs.push_back(output + ".pads");
    AddPads(graph, inputs.back(), from.window);
  }
  onnx::Node& node = *graph.add_node();
  node.set_name(output);
  node.set_op_type(std::string(ChoiceName(from.op, kOperators)));
  for (const std::string& input : inputs) {
    node.add_input(input);
  }
  node.add_output(output);
  AddAttributes(node, from);
  if (is_transposed) {
    AddTranspose(graph, output, from.output);
  }
}

void AddWeight(onnx::Graph& graph, const std::string& name,
               const HostTensor& from) {
  Check(from.type == DataType::kFloat32, "a graph's weights are floats");
  onnx::Tensor& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(kFloat);
  tensor.mutable_dims()->Add(from.shape.begin(), from.shape.end());
  tensor.set_raw_data(from.bytes.data(), from.bytes.size());
}

// [batch, rest ...]; for a batch of 0 the dimension has a name instead.
void Describe(onnx::ValueInfo& value, const std::string& name, int batch,
              std::initializer_list<std::int64_t> rest) {
  value.set_name(name);
  onnx::Type::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(kFloat);
  onnx::Shape::Dimension& first = *type.mutable_shape()->add_dim();
  if (batch > 0) {
    first.set_dim_value(batch);
  } else {
    first.set_dim_param("N");
  }
  for (const std::int64_t size : rest) {
    type.mutable_shape()->add_dim()->set_dim_value(size);
  }
}

void FillGraph(const InferenceGraph& from, int batch, onnx::Graph& graph) {
  graph.set_name("infeed");
  for (const GraphNode& node : from.nodes) {
    AddNode(graph, node);
  }
  for (const auto& [name, tensor] : from.weights) {
    AddWeight(graph, name, tensor);
  }
  Describe(*graph.add_input(), from.input, batch,
           {from.channels, from.image_size.height, from.image_size.width});
  Describe(*graph.add_output(), from.output, batch, {from.classes});
}

}  // namespace

std::string OnnxBytes(const InferenceGraph& graph, const OnnxOptions& options) {
  onnx::Model model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("infeed");
  model.set_producer_version(INFEED_VERSION);
  model.add_opset_import()->set_version(kOperatorSet);
  for (const auto& [key, value] : options.metadata) {
    onnx::StringStringEntry& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  FillGraph(graph, options.batch_size, *model.mutable_graph());
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    throw DataError("the model has more than the 2 GB that ONNX can hold");
  }
  return bytes;
}

}  // namespace infeed
