#include "trainer/groups/seat.h"

namespace infeed {

std::unique_ptr<DeviceGroup> JoinCudaGroup(const GroupSeat& seat) {
  throw UsageError("this build has no NCCL: there are no ranks on " +
                   seat.device.str());
}

}  // namespace infeed
