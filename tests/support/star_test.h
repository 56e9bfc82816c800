#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "trainer/ranks/meeting.h"
#include "trainer/ranks/star.h"

#include "gtest/gtest.h"

namespace infeed {

inline RankPlace StarPlace(int rank, int world_size) {
  return {.rank = rank, .world_size = world_size, .token = "token"};
}

// A test whose ranks are threads of this process, each with its own function.
class StarTest : public testing::Test {
 protected:
  using Rank = std::function<void(Ranks& ranks)>;

  static constexpr std::chrono::milliseconds kLong{60'000};

  [[nodiscard]] const RankListener& listener() const { return listener_; }

  // A rank's links, once all have come.
  [[nodiscard]] std::vector<FrameStream> Meet(int rank, int world_size) const {
    if (rank == 0) {
      return AwaitRanks(listener_, StarPlace(rank, world_size),
                        {.timeout = kLong});
    }
    return MeetRankZero(StarPlace(rank, world_size), listener_.port(), kLong);
  }

  void Run(int world_size, const Rank& rank, StarOptions options = {}) const {
    if (!options.end_process) {
      options.end_process = [](const std::string& why) {
        ADD_FAILURE() << why;
      };
    }
    std::vector<std::jthread> threads;
    for (int i = 0; i < world_size; ++i) {
      threads.emplace_back([&, i] {
        rank(*MakeStar(StarPlace(i, world_size), Meet(i, world_size), options));
      });
    }
  }

 private:
  RankListener listener_{"127.0.0.1"};
};

}  // namespace infeed
