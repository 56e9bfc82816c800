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

// The options of a stream with which its workers fill slots.
[[nodiscard]] InputOptions OptionsOfWorkers(InputOptions options);

// A range that a worker filled beside the same range filled here.
struct RangeComparison {
  int compared = 0;  // slots that are declined neither there nor here
  int differing = 0;
  // How the first one differs, in words, beginning with its place: "epoch 0,
  // position 17, record 5: the pixels differ"; empty: none does.
  std::string difference = {};
};

[[nodiscard]] RangeComparison CompareRanges(std::span<const SlotRequest> slots,
                                            const FilledSlots& filled,
                                            const FilledRange& here);

// Compares slots that a worker filled with the same slots filled here. One
// comparison at a time; others wait. Thread-safe.
class RangeCheck {
 public:
  // slots: of a range, at most. The stores must outlive it. Requires: options
  // are checked and resolved.
  RangeCheck(const RecordStore& store, const SeekStore& seek_store,
             const InputOptions& options, int slots);

  // RangeComparison::difference of the worker's slots; nullopt, as soon as
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
