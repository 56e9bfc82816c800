#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/rank_place.h"

namespace infeed {

// The ranks that train together, as the host sees them: small messages between
// loops. What the devices exchange inside a step is DeviceGroup's.
//
// All ranks make the same calls in the same order. A call waits for all of
// them; when one has ended, failed or not answered for the time-out, it throws
// IoError naming the rank and, where it is known, its error. One thread
// at a time.
class Ranks {
 public:
  virtual ~Ranks() = default;

  [[nodiscard]] const RankPlace& place() const { return place_; }

  // Everyone's message, by rank.
  [[nodiscard]] virtual std::vector<std::string> Gather(
      std::string_view mine) = 0;
  // The same on rank 0; the others get as many empty ones: for what is large,
  // as Gather() sends everyone's to everyone.
  [[nodiscard]] virtual std::vector<std::string> Collect(
      std::string_view mine) = 0;
  // Rank 0's message; the others' is not looked at.
  [[nodiscard]] virtual std::string Broadcast(std::string_view mine) = 0;

  // Tells the others why this rank ends, so that they can say so; does not
  // throw.
  virtual void Fail(std::string_view message) noexcept = 0;
  // Why the ranks are over, where one of them has ended, failed or gone silent:
  // what is behind an error of this one's device. Waits so long for it to
  // become known.
  [[nodiscard]] virtual std::optional<std::string> WhyOver(
      std::chrono::milliseconds patience) = 0;

  // Whether one of them says yes.
  [[nodiscard]] bool Any(bool mine);
  // The same of numbers; as many from every rank.
  [[nodiscard]] std::vector<std::vector<double>> GatherNumbers(
      const std::vector<double>& mine);
  // Waits until all have come here.
  void Barrier() { (void)Gather(""); }
  // Throws IoError unless all have the same `mine`; what: "parameters of
  // the run", for the message.
  void RequireSame(std::string_view what, std::string_view mine);

 protected:
  explicit Ranks(RankPlace place) : place_(std::move(place)) {}

 private:
  RankPlace place_;
};

// A world of one: every call returns at once.
[[nodiscard]] std::unique_ptr<Ranks> OneRank();

// Joins the others at place.master_addr, waiting for them up to the time-out.
// Starts a thread that watches them: once the ranks are over, and the caller's
// thread does not end by itself, it ends the process with a message and exit
// code 1. Throws IoError. (tcp_ranks.cc, of the library `trainer`.)
[[nodiscard]] std::unique_ptr<Ranks> JoinRanks(const RankPlace& place,
                                               std::chrono::seconds timeout);

}  // namespace infeed
