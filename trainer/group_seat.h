#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/types.h>

#include "base/error.h"

namespace infeed {

// What a rank needs to join a group: of every kind of device.
struct GroupSeat {
  int world_rank = 0;  // for messages
  int rank = 0;        // in the group
  int size = 1;
  torch::Device device{torch::kCPU};
  // The group's alone: what its ranks tell each other before they are joined.
  c10::intrusive_ptr<c10d::Store> store = {};
  std::string address = {};  // by which the others reach this rank
  std::chrono::milliseconds timeout{0};
};

// "rank 2: DOING: WHAT", without the library's stack.
[[nodiscard]] IoError GroupError(int world_rank, std::string_view doing,
                                 const std::exception& error);

}  // namespace infeed
