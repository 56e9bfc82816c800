#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <torch/types.h>

#include "base/error.h"
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

}  // namespace infeed
