#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "pipeline/remote/messages.h"
#include "pipeline/slots/range_filler.h"
#include "pipeline/slots/range_lender.h"

namespace infeed {

// Compares slots that a worker filled with the same slots filled here. One
// comparison at a time; others wait. Thread-safe.
class RangeCheck {
 public:
  // slots: of a range, at most. The stores must outlive it. Requires: options
  // are checked and resolved.
  RangeCheck(const RecordStore& store, const SeekStore& seek_store,
             const InputOptions& options, int slots);

  // How the worker's slots differ, in words, beginning with the place: "epoch
  // 0, position 17, record 5: the pixels differ"; empty: they do not. Slots
  // that are declined there or here are not compared. nullopt, as soon as
  // is_cancelled(), which is asked before each slot is filled, returns true.
  [[nodiscard]] std::optional<std::string> Difference(
      std::span<const SlotRequest> slots, const FilledSlots& filled,
      const std::function<bool()>& is_cancelled);

  // Whether a range is among those, one in `every`, that are checked for ever:
  // by a hash of its first slot's place. every = 0: none.
  [[nodiscard]] static bool IsChosen(std::span<const SlotRequest> slots,
                                     std::int64_t every);

 private:
  std::mutex mutex_;
  RangeFiller filler_;
  FilledRange range_;
};

}  // namespace infeed
