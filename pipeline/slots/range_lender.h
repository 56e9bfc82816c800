#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "pipeline/slots/open_batch.h"

namespace infeed {

// All that a slot's content depends on, beside the data and the options.
struct SlotRequest {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;
  std::int64_t record = 0;

  friend bool operator==(const SlotRequest&, const SlotRequest&) = default;
};

// The request for a slot of a batch, which holds a sample of this record.
[[nodiscard]] inline SlotRequest RequestOf(const BatchPlan& plan, int slot,
                                           std::int64_t record) {
  const SamplePlace place = plan.SampleOf(slot);
  return {.epoch = place.epoch, .position = place.position, .record = record};
}

// Neighbouring slots of a batch that a link is to fill.
struct RangeLoan {
  std::int64_t range = 0;   // the range's number in the stream
  std::int64_t number = 0;  // of this loan: each loan has another one
  std::vector<SlotRequest> slots;
};

// How others than the graph's own threads fill ranges of slots. Such a filler
// is a link, named by a number: a worker on another machine (worker_links.h).
//
// A range may be with two links, or be filled by a local thread meanwhile: the
// first result is used. A link may keep a loan for ever; a range that is late
// is then filled by another one. What a link returns too late, or twice, is
// dropped, so nothing is written into a batch that has left the graph.
//
// Thread-safe. Requires: no call begins after the graph's destruction began,
// and none is running then.
class RangeLender {
 public:
  using Clock = std::chrono::steady_clock;

  // Writes the index-th slot of a loan into a slot of a batch: everything but
  // its record and position. Returns false if the link declines the slot, or
  // its data are damaged: a local thread then fills the slot, whatever was
  // written. Must not throw.
  using WriteSlot =
      std::function<bool(OpenBatch& batch, int slot, std::size_t index)>;

  RangeLender() = default;
  virtual ~RangeLender() = default;
  RangeLender(const RangeLender&) = delete;
  RangeLender& operator=(const RangeLender&) = delete;

  // Lends the link a range; nullopt: none is left for links. latency: the
  // link's median time from Lend() to Arrive(), or a guess.
  [[nodiscard]] virtual std::optional<RangeLoan> Lend(
      int link, Clock::duration latency, Clock::time_point now) = 0;

  // Takes the link's result: calls write for each slot of the loan. Returns
  // false, and calls nothing, if the result is not needed any more.
  virtual bool Arrive(const RangeLoan& loan, const WriteSlot& write) = 0;

  // Takes the loan back without a result: somebody else fills the range.
  virtual void Lose(const RangeLoan& loan) = 0;

  // Finds the ranges that have been lent for longer than twice their link's
  // latency, and allows others to fill them. To be called as time passes.
  virtual void MarkLate(Clock::time_point now) = 0;
};

}  // namespace infeed
