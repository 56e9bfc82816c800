#pragma once

#include <chrono>

#include "trainer/ranks/place.h"

namespace CLI {
class App;
}

namespace infeed {

// What the flags about ranks are read into; as they are before: the defaults.
struct RankFlagValues {
  RankFlags& rank;
  int& local_ranks;
  std::chrono::seconds& timeout;
};

// What values refers to must outlive the app.
void AddRankFlags(CLI::App& app, const RankFlagValues& values);

}  // namespace infeed
