#pragma once

#include <chrono>
#include <string_view>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/rank_place.h"

namespace infeed {

// The store in which ranks tell each other their addresses, at
// place.master_addr and master_port: rank 0 serves it, in this process, as long
// as one that it opened lives, unless the launcher does. Keys of different
// names do not meet, nor do those of different attempts.
//
// Waits up to the time-out for rank 0. Throws IoError naming the address.
[[nodiscard]] c10::intrusive_ptr<c10d::Store> OpenRankStore(
    const RankPlace& place, std::string_view name,
    std::chrono::milliseconds timeout);

}  // namespace infeed
