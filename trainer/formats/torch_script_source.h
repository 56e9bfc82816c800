#pragma once

#include <string>

#include "trainer/formats/model_graph.h"

namespace infeed {

// The source of a TorchScript method, forward(self, images), for the graph, in
// Python's syntax. The weight "layer1.0.conv1.weight" is an attribute of nested
// modules: getattr(getattr(self, "layer1"), "0") and so on.
[[nodiscard]] std::string TorchScriptSource(const InferenceGraph& graph);

}  // namespace infeed
