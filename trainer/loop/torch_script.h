#pragma once

#include <string>

#include "trainer/formats/inference_graph.h"

namespace infeed {

// The graph as the bytes of a TorchScript file, which torch.jit.load() reads,
// in Python and in C++, without this program's code. Its state_dict() has the
// graph's weights under their names.
[[nodiscard]] std::string TorchScriptBytes(const InferenceGraph& graph);

}  // namespace infeed
