#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/ranks/ranks.h"

namespace infeed {

// The ranks' notes as a c10d store, through which Gloo's ranks exchange their
// addresses; it needs no server of its own. Stores with different prefixes have
// separate keys. Functions that Gloo does not use throw IoError. The ranks must
// outlive it.
[[nodiscard]] c10::intrusive_ptr<c10d::Store> MakeRankStore(
    Ranks& ranks, std::string prefix, std::chrono::milliseconds timeout);

}  // namespace infeed
