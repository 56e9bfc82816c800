#pragma once

#include <memory>

#include "trainer/groups/device_group.h"
#include "trainer/groups/seat.h"

namespace infeed {

// A group of GPUs, one for each rank, using NCCL. All its operations can be
// captured into a graph; the group must outlive the graph. All groups of a
// process share one stream besides the current one, so that on every rank their
// operations run in the order of the calls.
//
// If a rank is gone, NCCL notices it between machines; on one machine, sums
// never end, and Ranks notices it. Throws IoError, and UsageError in a build
// without CUDA.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinCudaGroup(const GroupSeat& seat);

}  // namespace infeed
