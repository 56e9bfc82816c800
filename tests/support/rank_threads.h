#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "trainer/rank_place.h"

namespace infeed {

// A world of ranks on this machine, each a thread that computes alone.
class RankThreads {
 public:
  explicit RankThreads(int size) : size_(size), server_(MakeServer()) {}

  [[nodiscard]] RankPlace PlaceOf(int rank) const {
    return {.rank = rank,
            .world_size = size_,
            .local_rank = rank,
            .local_world_size = size_,
            .master_port = server_->getPort(),
            .store_is_served = true};
  }

  // Runs it as every rank and waits for all. Throws what the first rank that
  // throws does.
  void Run(const std::function<void(const RankPlace& place)>& body) const {
    std::vector<std::future<void>> ranks;
    ranks.reserve(static_cast<std::size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) {
      ranks.push_back(std::async(std::launch::async, [&body, this, rank] {
        at::set_num_threads(1);
        body(PlaceOf(rank));
      }));
    }
    for (const std::future<void>& rank : ranks) {
      rank.wait();
    }
    for (std::future<void>& rank : ranks) {
      rank.get();
    }
  }

  // The same, and returns what each rank does.
  template <typename Result>
  std::vector<Result> Collect(
      const std::function<Result(const RankPlace& place)>& body) const {
    std::vector<Result> results(static_cast<std::size_t>(size_));
    Run([&](const RankPlace& place) {
      results[static_cast<std::size_t>(place.rank)] = body(place);
    });
    return results;
  }

 private:
  static c10::intrusive_ptr<c10d::TCPStore> MakeServer() {
    c10d::TCPStoreOptions options;
    options.port = 0;  // any
    options.isServer = true;
    options.waitWorkers = false;
    return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  }

  int size_;
  c10::intrusive_ptr<c10d::TCPStore> server_;
};

// Long: where nothing is lost, nobody waits for it.
constexpr std::chrono::seconds kRankTimeout{120};

}  // namespace infeed
