#include "trainer/groups/seat.h"

namespace infeed {

// PyTorch's wheels come without Gloo's headers.
std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& /*seat*/) {
  throw UsageError(
      "this build has no Gloo: several ranks on CPUs need a build with the "
      "distribution's LibTorch (docs/install.md); in a build with CUDA each "
      "rank needs a GPU (--device cuda)");
}

}  // namespace infeed
