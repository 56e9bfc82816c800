#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <torch/types.h>

#include "base/error.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// What a rank needs to join a group: of every kind of device.
struct GroupSeat {
  int world_rank = 0;  // for messages
  int rank = 0;        // in the group
  int size = 1;
  torch::Device device{torch::kCPU};
  // By whose notes its ranks tell each other what they need to join; keys begin
  // with the prefix, the group's alone.
  Ranks& ranks;
  std::string prefix = {};
  std::string address = {};  // by which the others reach this rank
  std::chrono::milliseconds timeout{0};
};

// "rank 2: DOING: WHAT", without the library's stack.
[[nodiscard]] IoError GroupError(int world_rank, std::string_view doing,
                                 const std::exception& error);

}  // namespace infeed
