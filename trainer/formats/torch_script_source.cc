#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/formats/model_graph.h"

namespace infeed {
namespace {

std::string WeightText(std::string_view name) {
  std::string text = "self";
  while (!name.empty()) {
    const std::size_t dot = name.find('.');
    text = fmt::format("getattr({}, \"{}\")", text, name.substr(0, dot));
    name = dot == name.npos ? "" : name.substr(dot + 1);
  }
  return text;
}

std::string Pair(int value) { return fmt::format("[{0}, {0}]", value); }

// The text of a convolution. Requires: its padding is the same on both sides,
// as in all plans.
std::string ConvolutionText(const GraphNode& node,
                            const std::vector<std::string>& in) {
  return fmt::format("torch.conv2d({}, {}, {}, {}, {}, [1, 1], {})", in[0],
                     in[1], in.size() > 2 ? in[2] : "None",
                     Pair(node.window.stride), Pair(node.window.pad_before),
                     node.groups);
}

// PyTorch pads both sides equally: other padding is a separate operation, with
// a value that is never the maximum.
std::string MaxPoolText(const GraphNode& node, const std::string& x) {
  const GraphWindow& window = node.window;
  const bool is_equal = window.pad_before == window.pad_after &&
                        window.left() == window.pad_after;
  const int pad = is_equal ? window.pad_before : 0;
  const std::string padded =
      is_equal
          ? x
          : fmt::format(
                "torch.constant_pad_nd({}, [{}, {}, {}, {}], -float(\"inf\"))",
                x, window.left(), window.pad_after, window.pad_before,
                window.pad_after);
  return fmt::format("torch.max_pool2d({}, {}, {}, {}, [1, 1], {})", padded,
                     Pair(window.kernel), Pair(window.stride), Pair(pad),
                     window.partial ? "True" : "False");
}

// The average does not count padding. Requires: as for a convolution.
std::string AveragePoolText(const GraphNode& node, const std::string& x) {
  const GraphWindow& window = node.window;
  return fmt::format("torch.avg_pool2d({}, {}, {}, {}, {}, False)", x,
                     Pair(window.kernel), Pair(window.stride),
                     Pair(window.pad_before),
                     window.partial ? "True" : "False");
}

std::string Expression(const GraphNode& node,
                       const std::vector<std::string>& in) {
  switch (node.op) {
    case GraphOp::kSubtract:
      return fmt::format("{} - {}", in[0], in[1]);
    case GraphOp::kDivide:
      return fmt::format("{} / {}", in[0], in[1]);
    case GraphOp::kAdd:
      return fmt::format("{} + {}", in[0], in[1]);
    case GraphOp::kScaleChannels:
      return fmt::format("{} * {}", in[0], in[1]);
    case GraphOp::kConvolution:
      return ConvolutionText(node, in);
    case GraphOp::kChannelConvolution:
      return fmt::format(
          "torch.transpose(torch.conv2d(torch.transpose({}, 1, 2), {}, None, "
          "[1, 1], [{}, 0], [1, 1], 1), 1, 2)",
          in[0], in[1], node.window.pad_before);
    case GraphOp::kReflectPad:
      return fmt::format("torch.reflection_pad2d({}, [{}, {}, {}, {}])", in[0],
                         node.window.pad_before, node.window.pad_after,
                         node.window.pad_before, node.window.pad_after);
    case GraphOp::kBatchNorm:
      return fmt::format("torch.batch_norm({}, False, 0.0, {}, True)",
                         fmt::join(in, ", "), node.epsilon);
    case GraphOp::kRelu:
      return fmt::format("torch.relu({})", in[0]);
    case GraphOp::kSigmoid:
      return fmt::format("torch.sigmoid({})", in[0]);
    case GraphOp::kMaxPool:
      return MaxPoolText(node, in[0]);
    case GraphOp::kAveragePool:
      return AveragePoolText(node, in[0]);
    case GraphOp::kGlobalAveragePool:
      return fmt::format("torch.mean({}, [2, 3], True)", in[0]);
    case GraphOp::kFlatten:
      return fmt::format("torch.flatten({}, 1)", in[0]);
    case GraphOp::kLinear:
      return fmt::format("torch.linear({})", fmt::join(in, ", "));
  }
  return "";
}

}  // namespace

std::string TorchScriptSource(const InferenceGraph& graph) {
  std::map<std::string, std::string> variables = {{graph.input, graph.input}};
  std::string text =
      fmt::format("def forward(self, {}: Tensor) -> Tensor:\n", graph.input);
  for (const GraphNode& node : graph.nodes) {
    std::vector<std::string> in;
    for (const std::string& name : node.inputs) {
      const auto found = variables.find(name);
      in.push_back(found == variables.end() ? WeightText(name) : found->second);
    }
    const std::string variable = fmt::format("v{}", variables.size());
    text += fmt::format("  {} = {}\n", variable, Expression(node, in));
    variables[node.output] = variable;
  }
  return text + fmt::format("  return {}\n", variables[graph.output]);
}

}  // namespace infeed
