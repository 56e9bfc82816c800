#include "trainer/groups/gloo_group.h"

namespace infeed {

// PyTorch's wheels come without Gloo's headers.
std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& /*seat*/) {
  throw UsageError(
      "this build has no Gloo: ranks on CPUs need one against a LibTorch "
      "without CUDA, ranks of this one a GPU each (--device cuda)");
}

}  // namespace infeed
