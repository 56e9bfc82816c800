// Replaces the rest of this folder in a build without CUDA.
#include "base/error.h"
#include "trainer/groups/seat.h"
#include "trainer/loop/passes.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

std::unique_ptr<DeviceGroup> JoinCudaGroup(const GroupSeat& seat) {
  throw UsageError("this build has no NCCL: there are no ranks on " +
                   seat.device.str());
}

std::unique_ptr<Optimizer> MakeCudaOptimizer(
    const OptimizerOptions& /*options*/,
    const std::vector<OptimizedParameter>& /*parameters*/) {
  return nullptr;
}

std::unique_ptr<DevicePasses> MakeCudaPasses(const DeviceModel& model) {
  throw UsageError("this build has no code for GPUs, so " + model.device.str() +
                   " cannot be used: build with the preset cuda, or use "
                   "--device cpu");
}

}  // namespace infeed
