#include "trainer/loop/torch_script.h"

#include <map>
#include <sstream>
#include <string_view>

#include <torch/script.h>

#include "base/error.h"
#include "trainer/formats/torch_script_source.h"

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
