#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/ranks/ranks.h"

namespace infeed {

// The ranks' notes as a store of c10d's, by which Gloo's ranks tell each other
// their addresses: nothing listens for it. Keys of different prefixes do not
// meet. What Gloo does not ask for throws IoError. The ranks must outlive it.
[[nodiscard]] c10::intrusive_ptr<c10d::Store> MakeRankStore(
    Ranks& ranks, std::string prefix, std::chrono::milliseconds timeout);

}  // namespace infeed
