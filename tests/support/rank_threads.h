#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <vector>

#include <ATen/Parallel.h>

#include "trainer/ranks/meeting.h"
#include "trainer/ranks/star.h"

namespace infeed {

// Long: where nothing is lost, nobody waits for it.
constexpr std::chrono::seconds kRankTimeout{120};

// A world of ranks on this machine, each a thread that computes alone.
class RankThreads {
 public:
  // local_size: the number of ranks that count as being on one machine; 0: all.
  explicit RankThreads(int size, int local_size = 0)
      : size_(size), local_size_(local_size > 0 ? local_size : size) {}

  // Runs it as every rank and waits for all. Throws what the first rank that
  // throws does.
  void Run(const std::function<void(Ranks& ranks)>& body) const {
    const RankListener listener("127.0.0.1");
    std::vector<std::future<void>> threads;
    threads.reserve(static_cast<std::size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) {
      threads.push_back(std::async(std::launch::async, [&, rank] {
        at::set_num_threads(1);
        body(*MakeStar(PlaceOf(rank), Meet(listener, PlaceOf(rank)),
                       {.timeout = kRankTimeout,
                        .patience = kRankTimeout,
                        .patience_once_known = kRankTimeout}));
      }));
    }
    for (const std::future<void>& thread : threads) {
      thread.wait();
    }
    for (std::future<void>& thread : threads) {
      thread.get();
    }
  }

  // As Run(), and returns each rank's result.
  template <typename Result>
  std::vector<Result> Collect(
      const std::function<Result(Ranks& ranks)>& body) const {
    std::vector<Result> results(static_cast<std::size_t>(size_));
    Run([&](Ranks& ranks) {
      results[static_cast<std::size_t>(ranks.place().rank)] = body(ranks);
    });
    return results;
  }

 private:
  [[nodiscard]] RankPlace PlaceOf(int rank) const {
    return {.rank = rank,
            .world_size = size_,
            .local_rank = rank % local_size_,
            .local_world_size = local_size_};
  }

  static std::vector<FrameStream> Meet(const RankListener& listener,
                                       const RankPlace& place) {
    if (place.is_first()) {
      return AwaitRanks(listener, place, {.timeout = kRankTimeout});
    }
    return MeetRankZero(place, listener.port(), kRankTimeout);
  }

  int size_;
  int local_size_;
};

}  // namespace infeed
