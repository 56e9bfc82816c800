#pragma once

#include <memory>
#include <vector>

#include "trainer/optimizer/optimizer.h"

namespace infeed {

// The optimizer for GPUs that updates flat buffers in one kernel, for momentum
// and LARS. nullptr if the parameters are not on a GPU, if options.kind has no
// such kernel, or if this build has no CUDA. Moves the weights
// (flat_weights.h).
[[nodiscard]] std::unique_ptr<Optimizer> MakeCudaOptimizer(
    const OptimizerOptions& options,
    const std::vector<OptimizedParameter>& parameters);

}  // namespace infeed
