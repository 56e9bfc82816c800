#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>

#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/record_cache.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/slots/sample.h"
#include "pipeline/slots/slot_filler.h"
#include "pipeline/stats/stage_counters.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// A range of slots outside a batch of the stream, and what is needed to fill
// it. Reused for later ranges; then nothing is allocated. One thread at a time.
class FilledRange {
 public:
  static constexpr int kMostSlots = 64;

  // Requires: options are RangeFiller::options() of the filler that fills it;
  // most_slots is from 1 to kMostSlots.
  FilledRange(const InputOptions& options, int most_slots);
  FilledRange(const FilledRange&) = delete;
  FilledRange& operator=(const FilledRange&) = delete;

  // most_slots slots, of which the first size() are filled; those declined are
  // unspecified. Fields and boxes are gathered (Batch::fields(), boxes()).
  [[nodiscard]] const Batch& batch() const { return open_.batch(); }
  [[nodiscard]] int size() const { return size_; }
  // Bit i: slot i could not be filled without a decision about its record.
  [[nodiscard]] std::uint64_t declined() const { return declined_; }
  // Lists of the slots that are not declined which were longer than their
  // field.
  [[nodiscard]] int cut_lists() const;
  // What says nothing of a record, such as a file that cannot be read; then all
  // slots are declined. nullptr: nothing.
  [[nodiscard]] std::exception_ptr error() const { return open_.error(); }

 private:
  friend class RangeFiller;

  Sample sample_;
  const PlannedBatch planned_;
  OpenBatch open_;
  int size_ = 0;
  std::uint64_t declined_ = 0;
  std::array<int, kMostSlots> cut_lists_ = {};  // of each slot
};

// Fills ranges of slots by what is requested alone: for others than the flow
// graph of the stream, such as a worker on another machine. It makes no
// decision about a bad record: it declines the slot of one, of one that the
// decoder warns about, and of one that it cannot read.
//
// The stores, the cache and found must outlive it. Thread-safe.
class RangeFiller {
 public:
  // cache and found may be null, as SlotFiller's. Requires: options are checked
  // and resolved.
  RangeFiller(const RecordStore& store, const SeekStore& seek_store,
              const InputOptions& options, RecordCache* cache = nullptr,
              FoundSeekIndexes* found = nullptr);

  // Fills the range. Returns false, with the range unspecified, as soon as
  // is_cancelled(), which is asked before each slot, returns true. Requires:
  // slots.size() is from 1 to the range's most; 0 <= record < the size of the
  // store's index for each of them.
  bool Fill(std::span<const SlotRequest> slots,
            const std::function<bool()>& is_cancelled, FilledRange& range);

  // The given options, with OnBadRecord::kSkip.
  [[nodiscard]] const InputOptions& options() const {
    return filler_.options();
  }
  [[nodiscard]] const StageCounters& counters() const { return counters_; }

 private:
  StageCounters counters_;
  SlotFiller filler_;
};

}  // namespace infeed
