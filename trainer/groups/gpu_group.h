#pragma once

#include <memory>

#include "trainer/groups/device_group.h"
#include "trainer/groups/seat.h"

namespace infeed {

// A group of GPUs, one a rank, by NCCL. Everything that it does can be captured
// into a graph; the group must outlive the graph. All groups of a process share
// one stream beside the current one, so that on every rank they take their
// turns in the order of the calls.
//
// A rank that is gone is noticed by NCCL between machines; on one machine, its
// sums never end, and Ranks notices. Throws IoError, and UsageError in a build
// without CUDA.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinCudaGroup(const GroupSeat& seat);

}  // namespace infeed
