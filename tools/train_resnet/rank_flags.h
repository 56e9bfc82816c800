#pragma once

#include <chrono>

#include "trainer/ranks/place.h"

namespace CLI {
class App;
}

namespace infeed {

// Targets of the flags about ranks; their initial values are the defaults.
struct RankFlagValues {
  RankFlags& rank;
  int& local_ranks;
  std::chrono::seconds& timeout;
};

// The objects that `values` refers to must outlive the app.
void AddRankFlags(CLI::App& app, const RankFlagValues& values);

}  // namespace infeed
