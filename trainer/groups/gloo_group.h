#pragma once

#include <memory>

#include "trainer/groups/device_group.h"
#include "trainer/groups/seat.h"

namespace infeed {

// A group of CPUs, by Gloo: a ring, whose sums have one order. Throws IoError,
// and UsageError where LibTorch is without Gloo.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& seat);

}  // namespace infeed
