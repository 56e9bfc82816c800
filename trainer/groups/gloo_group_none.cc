#include "trainer/groups/gloo_group.h"

namespace infeed {

// PyTorch's wheels come without Gloo's headers.
std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& /*seat*/) {
  throw UsageError(
      "this build has no Gloo: several ranks on CPUs need a build with a "
      "LibTorch without CUDA; in this build each rank needs a GPU (--device "
      "cuda)");
}

}  // namespace infeed
