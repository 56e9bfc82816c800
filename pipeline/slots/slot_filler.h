#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/options/options.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/record_cache.h"
#include "pipeline/slots/range_lender.h"
#include "pipeline/slots/sample.h"
#include "pipeline/slots/sample_loader.h"
#include "pipeline/slots/seek_index_use.h"
#include "pipeline/stats/bad_record.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/stats.h"
#include "preprocess/recipe/recipe.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// The work on one sample, in two stages that use no threads: Read() loads the
// record (SampleLoader), Fill() decodes the image and writes pixels, label and
// weight into the slot, moves the record's boxes with the image
// (FollowObjects()), and applies the policy for bad records, which it notes in
// the batch. Packed pixels are verified while they are copied.
//
// The stores, the cache and the counters must outlive it. Thread-safe for
// different samples. Neither call throws: an error that ends the stream is
// passed to the sample's batch (Fail()).
class SlotFiller {
 public:
  // places: the number of places in an epoch. cache: may be null. found: keeps
  // the seek indexes that are found; null: none are looked for. Requires:
  // options are checked.
  SlotFiller(const RecordStore& store, const SeekStore& seek_store,
             std::int64_t places, const InputOptions& options,
             StageCounters& counters, RecordCache* cache = nullptr,
             FoundSeekIndexes* found = nullptr);

  // Requires: sample.batch, slot, start and since are set.
  void Read(Sample& sample);

  // Read() of what is requested, whatever the plan of the batch says.
  void ReadAs(const SlotRequest& request, Sample& sample);

  // A hint that the record will be read soon after.
  void WillReadNext(std::int64_t record) const { store_.WillReadNext(record); }

  // Requires: Read(sample) returned.
  void Fill(Sample& sample);

  // Completes the seek index of the sample's JPEG, if batches wait for the
  // consumer, so that there is time for it. Requires: Fill(sample) returned,
  // and was the last call.
  void UseSpareTime(Sample& sample);

  // Notes that slots were filled by others than Read() and Fill(), so they do
  // not wait any more.
  void CountArrived(int slots) { counters_.waiting.Add(-slots); }

  // From now on Read() and Fill() leave slots as they are: no consumer will
  // read them.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] bool is_cancelled() const {
    return cancelled_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] const InputOptions& options() const { return options_; }

  [[nodiscard]] SeekIndexStats seek_indexes() const {
    return seek_indexes_.stats();
  }

 private:
  // Loads sample.record, unless cancelled.
  void Load(Sample& sample) const;
  // Fills the slot or throws.
  void FillOrThrow(Sample& sample);
  // Fill the slot; on failure add the bad records met to `bad` and return
  // false. The second one loads substitutes until one fills the slot.
  bool TryFill(Sample& sample, std::vector<BadRecord>& bad);
  bool FillWithSubstitute(Sample& sample, std::vector<BadRecord>& bad);
  // Draws one of an epoch's records at random.
  [[nodiscard]] std::int64_t DrawRecord(const SampleKey& key,
                                        SampleRandom& draws) const;
  // Fills the slot; returns what is wrong with the record.
  std::optional<DataError> FillIfGood(Sample& sample);
  void FillSlot(Sample& sample);
  // Fills the image, its views and its boxes; returns FillCounts::made of them.
  std::uint64_t FillImages(Sample& sample);
  FillCounts FillImage(Sample& sample);
  FillCounts FillViews(Sample& sample);
  // Decodes or copies the image and augments it.
  FillCounts FillWords(Sample& sample, std::span<std::uint32_t> words);
  // Copies packed pixels and verifies the payload with the same pass over them.
  FillCounts CopyPacked(Sample& sample, std::span<std::uint32_t> words);
  // Reads the sample's boxes for a crop that they choose; empty: it has none.
  BoxSource BoxesOf(Sample& sample) const;
  // Notes a decoder's warning.
  void Warn(const std::string& warning, const Sample& sample) const;
  // Counts and traces the work done for a slot since `start`.
  void Count(const FillCounts& counts, std::size_t slot_bytes,
             StageCounter::Clock::time_point start, const Sample& sample) const;
  // The bad-record entry for sample.record, with its place.
  [[nodiscard]] BadRecord Describe(const Sample& sample,
                                   const DataError& error) const;

  const RecordStore& store_;
  const std::int64_t places_;
  const InputOptions options_;
  const bool reads_labels_;
  StageCounters& counters_;
  SeekIndexUse seek_indexes_;
  const SampleLoader loader_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace infeed
