#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <torch/types.h>

#include "base/error.h"
#include "trainer/groups/device_group.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// The facts that a rank needs to join a group, for every kind of device.
struct GroupSeat {
  int world_rank = 0;  // for messages
  int rank = 0;        // in the group
  int size = 1;
  torch::Device device{torch::kCPU};
  // Through its notes the group's ranks exchange addresses; keys begin with the
  // prefix, which only this group uses.
  Ranks& ranks;
  std::string prefix = {};
  std::string address = {};  // where the other ranks can reach this one
  std::chrono::milliseconds timeout{0};
};

// "rank 2: DOING: WHAT", without the library's stack.
[[nodiscard]] IoError GroupError(int world_rank, std::string_view doing,
                                 const std::exception& error);

// A group of CPUs, using Gloo: a ring, which sums in a fixed order. Throws
// IoError, and UsageError where LibTorch has no Gloo.
[[nodiscard]] std::unique_ptr<DeviceGroup> JoinGlooGroup(const GroupSeat& seat);

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
