#pragma once

#include <memory>

#include "trainer/groups/device_group.h"
#include "trainer/groups/seat.h"

namespace infeed {

// A group of CPUs, using Gloo: a ring, which sums in a fixed order. Throws
// IoError, and UsageError where LibTorch has no Gloo.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& seat);

}  // namespace infeed
