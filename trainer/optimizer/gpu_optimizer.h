#pragma once

#include <memory>
#include <vector>

#include "trainer/optimizer/optimizer.h"

namespace infeed {

// The optimizer that goes over flat buffers in one kernel, on a GPU: of
// momentum and LARS. nullptr: the parameters are not on a GPU, or there is no
// such kernel for options.kind, or no CUDA in this build. Moves the weights
// (flat_weights.h).
[[nodiscard]] std::unique_ptr<Optimizer> MakeCudaOptimizer(
    const OptimizerOptions& options,
    const std::vector<OptimizedParameter>& parameters);

}  // namespace infeed
