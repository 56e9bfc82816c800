#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <utility>

#include "trainer/optimizer/adam.h"
#include "trainer/optimizer/gpu_optimizer.h"
#include "trainer/optimizer/lamb.h"
#include "trainer/optimizer/lars.h"
#include "trainer/optimizer/momentum.h"
#include "trainer/optimizer/rmsprop.h"

namespace infeed {

bool IsDecayed(ParameterKind kind, const OptimizerOptions& options) {
  const bool all = options.decay_scope == DecayScope::kAll;
  switch (kind) {
    case ParameterKind::kWeight:
      return true;
    case ParameterKind::kNorm:
      return all;
    case ParameterKind::kBias:
      break;
  }
  return all || (options.decay_scope == DecayScope::kReference &&
                 options.kind != OptimizerKind::kLars &&
                 options.kind != OptimizerKind::kLamb);
}

std::unique_ptr<Optimizer> MakeOptimizer(
    const OptimizerOptions& options, std::vector<OptimizedParameter> parameters,
    Kernels kernels) {
  const bool plain = std::ranges::all_of(parameters, [](const auto& one) {
    return one.rate_factor == 1 && one.decay_factor == 1;
  });
  if (kernels == Kernels::kFastest && plain) {
    if (auto fused = MakeCudaOptimizer(options, parameters)) {
      return fused;
    }
  }
  switch (options.kind) {
    case OptimizerKind::kLars:
      return std::make_unique<LarsOptimizer>(
          std::move(parameters),
          LarsOptions{.momentum = options.momentum,
                      .weight_decay = options.weight_decay},
          kernels);
    case OptimizerKind::kLamb:
      return std::make_unique<LambOptimizer>(
          std::move(parameters),
          LambOptions{.weight_decay = options.weight_decay}, kernels);
    case OptimizerKind::kRmsProp:
      return std::make_unique<RmsPropOptimizer>(
          std::move(parameters),
          RmsPropOptions{.momentum = options.momentum,
                         .weight_decay = options.weight_decay},
          kernels);
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
    case OptimizerKind::kNAdamW:
      return std::make_unique<AdamOptimizer>(
          std::move(parameters),
          AdamOptions{.weight_decay = options.weight_decay,
                      .decoupled = options.kind != OptimizerKind::kAdam,
                      .nesterov = options.kind == OptimizerKind::kNAdamW},
          kernels);
    case OptimizerKind::kMomentum:
      break;
  }
  return std::make_unique<MomentumOptimizer>(
      std::move(parameters),
      MomentumOptions{.momentum = options.momentum,
                      .nesterov = options.nesterov,
                      .weight_decay = options.weight_decay},
      kernels);
}

}  // namespace infeed
