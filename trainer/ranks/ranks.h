#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/ranks/place.h"

namespace infeed {

// A number of all ranks.
struct RankTotal {
  double sum = 0;
  double most = 0;  // of one rank
  int rank = 0;     // the first one that has the most
};

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

  // Makes one answer of every rank's message, by rank.
  using Reduction =
      std::function<std::string(const std::vector<std::string>& messages)>;

  [[nodiscard]] const RankPlace& place() const { return place_; }

  // Every rank's message goes to rank 0, whose `reduce` makes an answer of
  // them; every rank returns that answer. No rank is sent all messages: the
  // bytes grow with the number of ranks, not with its square.
  [[nodiscard]] virtual std::string Reduce(std::string_view mine,
                                           const Reduction& reduce) = 0;

  // Leaves a note for all ranks, kept by rank 0 as long as they train. Not a
  // call that the others make too.
  virtual void Post(const std::string& key, std::string_view note) = 0;
  // The note of a key, once some rank has left it. Throws IoError also when
  // nobody has in this time.
  [[nodiscard]] virtual std::string Read(const std::string& key,
                                         std::chrono::milliseconds timeout) = 0;

  // Tells the others why this rank ends, so that they can say so; does not
  // throw.
  virtual void Fail(std::string_view message) noexcept = 0;
  // Why the ranks are over, where one of them has ended, failed or gone silent:
  // what is behind an error of this one's device. Waits so long for it to
  // become known.
  [[nodiscard]] virtual std::optional<std::string> WhyOver(
      std::chrono::milliseconds patience) = 0;

  // "KIND/NUMBER/", the same on all ranks, as they make the same calls: for the
  // keys of what they do together once more.
  [[nodiscard]] std::string NextPrefix(std::string_view kind);

  // On rank 0 every rank's message, by rank; on the others none.
  [[nodiscard]] std::vector<std::string> Collect(std::string_view mine);
  // Rank 0's message; the others' messages are not used.
  [[nodiscard]] std::string Broadcast(std::string_view mine);
  // Whether `mine` is true on any rank.
  [[nodiscard]] bool Any(bool mine);
  // The totals of each number; every rank gives as many.
  [[nodiscard]] std::vector<RankTotal> Total(const std::vector<double>& mine);
  // Waits until all ranks have called it.
  void Barrier() { (void)Collect(""); }
  // Throws IoError unless all have the same `mine`; what: "parameters of
  // the run", for the message.
  void RequireSame(std::string_view what, std::string_view mine);

 protected:
  explicit Ranks(RankPlace place) : place_(std::move(place)) {}

 private:
  RankPlace place_;
  int prefixes_ = 0;
};

// A world of one: every call returns at once.
[[nodiscard]] std::unique_ptr<Ranks> OneRank();

// Joins the others at place.master_addr, waiting for them up to the time-out;
// rank 0 listens until then, and no longer.
// Starts a thread that watches them: once the ranks are over, and the caller's
// thread does not end by itself, it ends the process with a message and exit
// code 1. Throws IoError. (tcp_ranks.cc, of the library `trainer`.)
[[nodiscard]] std::unique_ptr<Ranks> JoinRanks(const RankPlace& place,
                                               std::chrono::seconds timeout);

}  // namespace infeed
