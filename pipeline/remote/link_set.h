#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_link.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// A link with the connection to its worker.
struct ConnectedLink {
  ConnectedLink(int number, const std::string& address, const LinkTimes& times)
      : link(number, address, times) {}

  WorkerLink link;
  bool is_unwanted = false;                  // not in the list any more
  std::unique_ptr<RpcChannel> channel = {};  // null: not yet made, or ended
};

// The links of a stream. A link stays where it is until RemoveUnwanted(). State
// alone, as a link's. One thread at a time.
class LinkSet {
 public:
  // Makes the links those to the workers that ChosenWorkers() chooses: marks
  // the others as unwanted, and adds links. Those that are dropped stay, so
  // that they are known if they come back, and others take their place; as do
  // those that are full, `most` of them, which are asked again.
  void Choose(std::vector<std::string> addresses, const std::string& trainer,
              int most, const LinkTimes& times);
  // The connections of the links that are dropped or unwanted.
  [[nodiscard]] std::vector<std::unique_ptr<RpcChannel>> TakeEnded();
  void RemoveUnwanted();

  // The links to be opened, which are then on their way.
  [[nodiscard]] std::vector<ConnectedLink*> BeginOpening(
      WorkerLink::Clock::time_point now);
  // All links, beginning with another one each time.
  [[nodiscard]] std::vector<ConnectedLink*> InTurn();

  [[nodiscard]] bool IsAnyOpen() const;
  [[nodiscard]] int in_flight() const;  // ranges
  // The median of the median latencies of open links; zero: there is none.
  [[nodiscard]] LinkLatencies::Duration MedianLatency() const;
  // Whether there are links, and the first attempt of each has ended.
  [[nodiscard]] bool AreAllTried() const;
  // A worker that refuses, and why; "": none does, or one that is full may take
  // the stream later.
  [[nodiscard]] std::string Refusal() const;
  // By address.
  [[nodiscard]] std::vector<WorkerStats> stats(
      WorkerLink::Clock::time_point now) const;

 private:
  std::vector<std::unique_ptr<ConnectedLink>> links_;
  int numbers_ = 0;  // given to links
  std::size_t turn_ = 0;
};

// The links of a stream, and what its threads share beside them.
struct SharedLinks {
  // A random factor of waits.
  [[nodiscard]] double Spread() {
    return std::uniform_real_distribution<>(0.5, 1.5)(random);
  }

  mutable std::mutex mutex;  // of all else, Spread() too
  bool is_stopping = false;
  bool is_list_new = false;  // or a link was dropped, or is full
  LinkSet links = {};
  std::minstd_rand random{std::random_device{}()};
};

}  // namespace infeed
