#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <utility>

#include "trainer/optimizer/pass.h"

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
  PassSetup setup = {std::move(parameters), options, kernels};
  switch (options.kind) {
    case OptimizerKind::kLars:
      return MakeLars(std::move(setup));
    case OptimizerKind::kLamb:
      return MakeLamb(std::move(setup));
    case OptimizerKind::kRmsProp:
      return MakeRmsProp(std::move(setup));
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
    case OptimizerKind::kNAdamW:
      return MakeAdam(std::move(setup));
    case OptimizerKind::kMomentum:
      break;
  }
  return MakeMomentum(std::move(setup));
}

}  // namespace infeed
