#include "trainer/loop/exporter.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>

#include <torch/script.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/append_file.h"
#include "trainer/formats/safetensors.h"
#include "trainer/model/normalization.h"
#include "trainer/results/export_folder.h"

namespace infeed {
namespace {

// A module and its submodules, collected first: a module must be complete when
// it is registered with its parent.
struct Node {
  std::map<std::string, Node> children;
  std::map<std::string, const HostTensor*> tensors;
};

void Insert(Node& node, std::string_view name, const HostTensor& tensor) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos) {
    node.tensors[std::string(name)] = &tensor;
    return;
  }
  Insert(node.children[std::string(name.substr(0, dot))], name.substr(dot + 1),
         tensor);
}

// LibTorch has no const tensors; the source is only read.
torch::Tensor CopyOf(const HostTensor& tensor) {
  Check(tensor.type == DataType::kFloat32, "a graph's weights are floats");
  return torch::from_blob(const_cast<std::byte*>(tensor.bytes.data()),
                          tensor.shape, torch::kFloat)
      .clone();
}

bool IsParameter(std::string_view name) {
  return name == "weight" || name == "bias";
}

// The type is named by the module's path: types of the same name count as one
// type.
torch::jit::Module ModuleOf(const Node& node, const std::string& type) {
  torch::jit::Module module(type);
  for (const auto& [name, tensor] : node.tensors) {
    module.register_parameter(name, CopyOf(*tensor), !IsParameter(name));
  }
  for (const auto& [name, child] : node.children) {
    module.register_module(name, ModuleOf(child, type + "_" + name));
  }
  return module;
}

}  // namespace

void CheckFormats(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (format != "onnx" && format != "safetensors" &&
        format != "torchscript") {
      throw UsageError("format=" + format +
                       ": must be onnx, safetensors or torchscript");
    }
  }
}

std::string ExportModel(const ExportOptions& options,
                        const PreprocessingFacts& facts,
                        const TensorMap& weights) {
  CheckFormats(options.formats);
  const std::vector<std::string> formats =
      options.formats.empty() ? std::vector<std::string>{"onnx", "safetensors"}
                              : options.formats;
  const auto has = [&](std::string_view format) {
    return std::ranges::find(formats, format) != formats.end();
  };
  const std::string preprocessing = PreprocessingJson(facts);
  // Built for every format: it throws if the weights are not the model's.
  const InferenceGraph graph =
      BuildGraph(facts.model, weights,
                 {.image_size = facts.input.preprocess.image_size,
                  .statistics = StatisticsOf(facts.normalization)});
  ExportFolder folder(options.export_dir);
  WriteFileAtomically(folder.PathFor(kExportFactsFile), preprocessing);
  if (has("onnx")) {
    WriteFileAtomically(
        folder.PathFor("model.onnx"),
        OnnxBytes(graph, {.batch_size = options.batch_size,
                          .metadata = {{"preprocessing", preprocessing}}}));
  }
  if (has("safetensors")) {
    WriteSafetensors(folder.PathFor("model.safetensors"), weights);
  }
  if (has("torchscript")) {
    WriteFileAtomically(folder.PathFor("model.torchscript"),
                        TorchScriptBytes(graph));
  }
  return folder.Commit(static_cast<std::int64_t>(UnixSeconds()));
}

std::string TorchScriptBytes(const InferenceGraph& graph) {
  Node root;
  for (const auto& [name, tensor] : graph.weights) {
    Insert(root, name, tensor);
  }
  torch::jit::Module module = ModuleOf(root, "__torch__.infeed");
  module.define(TorchScriptSource(graph));
  module.eval();
  std::ostringstream stream;
  module.save(stream);
  return std::move(stream).str();
}

}  // namespace infeed
