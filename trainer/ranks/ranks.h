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

// Sum and maximum of a number over all ranks.
struct RankTotal {
  double sum = 0;
  double most = 0;  // the largest of a rank
  int rank = 0;     // the first one with that number
};

// The ranks that train together, for the host: small messages between loops.
// DeviceGroup does the devices' exchange inside a step.
//
// All ranks make the same calls in the same order. A call waits for all of
// them; when a rank has ended, failed or not answered within the time-out, the
// call throws IoError naming the rank and, if known, its error. One thread at a
// time.
class Ranks {
 public:
  virtual ~Ranks() = default;

  // Combines the messages of all ranks, in the order of the ranks, into one
  // answer.
  using Reduction =
      std::function<std::string(const std::vector<std::string>& messages)>;

  [[nodiscard]] const RankPlace& place() const { return place_; }

  // Sends every rank's message to rank 0, whose `reduce` combines them into an
  // answer; every rank returns that answer. Only rank 0 receives all messages:
  // the bytes grow with the number of ranks, not with its square.
  [[nodiscard]] virtual std::string Reduce(std::string_view mine,
                                           const Reduction& reduce) = 0;

  // Leaves a note for all ranks, which rank 0 keeps as long as they train. The
  // other ranks need not make this call.
  virtual void Post(const std::string& key, std::string_view note) = 0;
  // Waits until some rank has left the note of this key, and returns it. Throws
  // IoError also when no rank has within the time-out.
  [[nodiscard]] virtual std::string Read(const std::string& key,
                                         std::chrono::milliseconds timeout) = 0;

  // Sends the others the error that ends this rank, so that they can report it;
  // does not throw.
  virtual void Fail(std::string_view message) noexcept = 0;
  // Why the run of all ranks has ended, if a rank has ended, failed or stopped
  // answering; it explains an error of this rank's device. Waits up to
  // `patience` for the reason to become known.
  [[nodiscard]] virtual std::optional<std::string> EndReason(
      std::chrono::milliseconds patience) = 0;

  // "KIND/NUMBER/", a new prefix for the keys of notes; the same on all ranks,
  // since they make the same calls.
  [[nodiscard]] std::string NextPrefix(std::string_view kind);

  // On rank 0 returns every rank's message, by rank; on the others nothing.
  [[nodiscard]] std::vector<std::string> Collect(std::string_view mine);
  // Returns rank 0's message; those of the others are not used.
  [[nodiscard]] std::string Broadcast(std::string_view mine);
  // Whether `mine` is true on any rank.
  [[nodiscard]] bool Any(bool mine);
  // The totals of each number; every rank passes equally many.
  [[nodiscard]] std::vector<RankTotal> Total(const std::vector<double>& mine);
  // Waits until all ranks have called it.
  void Barrier() { (void)Collect(""); }
  // Throws IoError unless all ranks pass the same `mine`. what: "parameters of
  // the run", for the message.
  void RequireSame(std::string_view what, std::string_view mine);

 protected:
  explicit Ranks(RankPlace place) : place_(std::move(place)) {}

 private:
  RankPlace place_;
  int prefixes_ = 0;
};

// For a single process: every call returns at once.
[[nodiscard]] std::unique_ptr<Ranks> OneRank();

// Connects to the other ranks at place.master_addr, waiting for them up to the
// time-out; rank 0 stops listening afterwards. Starts a thread that observes
// them: if a rank has failed and the caller's thread does not end by itself, it
// ends the process with a message and exit code 1. Throws IoError.
// (groups/join_ranks.cc, in the library `trainer`.)
[[nodiscard]] std::unique_ptr<Ranks> JoinRanks(const RankPlace& place,
                                               std::chrono::seconds timeout);

}  // namespace infeed
