#pragma once

#include <memory>

#include "trainer/device_group.h"
#include "trainer/group_seat.h"

namespace infeed {

// A group of CPUs, by Gloo: a ring, whose sums have one order. Throws IoError,
// and UsageError where LibTorch is without Gloo.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& seat);

}  // namespace infeed
