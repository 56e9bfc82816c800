#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/engine/open_batch.h"
#include "pipeline/memory/record_cache.h"
#include "pipeline/order/options.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/reading/sample_seek_index.h"
#include "pipeline/stats/bad_record.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/stats.h"
#include "preprocess/recipe/recipe.h"
#include "records/example/fields.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// A sample on its way from a shard to its slot. Owns the record's bytes and its
// decoder; each worker has one and reuses it for its next sample.
struct Sample {
  // Requires: options are checked, and equal to the filler's.
  explicit Sample(const InputOptions& options)
      : words(ScratchWords(options)),
        preprocessor(PreprocessOptionsOf(options)) {}

  OpenBatch* batch = nullptr;
  int slot = 0;
  SampleKey key = {};
  std::int64_t record = 0;
  int draw = 0;  // 0: the position's own record; k: the k-th substitute for it
  Access access = Access::kInOrder;
  std::vector<std::byte> buffer = {};
  RecordPayload payload = {};            // a view into buffer, or a mapped file
  ImagenetExampleView example = {};      // views into buffer, or the cache
  std::vector<FieldColumn> fields = {};  // of the options, one list each
  SampleSeekIndex seek_index = {};
  std::string found_index = {};  // that its decode found; empty: none
  int open_rows = 0;  // of MCUs, that its JPEG's index could cover and does not
  bool index_is_wrong = false;  // the one passed in is not the JPEG's
  BadRecordKind stage = BadRecordKind::kFrame;  // of a failure now
  std::exception_ptr failure = {};              // why no example
  StageCounter::Clock::time_point since = {};   // waiting since
  // The image before it is unpacked into a batch of RGB bytes; else empty.
  std::vector<std::uint32_t> words;
  Preprocessor preprocessor;
};

// The work on one sample, in two stages that use no threads: Read() reads and
// parses the record, Fill() decodes the image and writes pixels, label and
// weight into the slot. A record's checksum is verified in Read(), or in Fill()
// while packed pixels are copied. The policy for bad records is here: this is
// the only place that catches DataError. The bad record is noted in the batch.
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

  // Requires: sample.batch, slot and since are set.
  void Read(Sample& sample);

  // Requires: Read(sample) returned.
  void Fill(Sample& sample);

  // Completes the seek index of the sample's JPEG, if batches wait for the
  // consumer, so that there is time for it. Requires: Fill(sample) returned,
  // and was the last call.
  void UseSpareTime(Sample& sample);

  // From now on Read() and Fill() leave slots as they are: no consumer will
  // read them.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] bool is_cancelled() const {
    return cancelled_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] const InputOptions& options() const { return options_; }

  [[nodiscard]] SeekIndexStats seek_indexes() const {
    return seek_counts_.Read();
  }

 private:
  // Reads sample.record and parses it; a failure is stored in the sample.
  void Load(Sample& sample);
  // Verifies the sample's payload if that is still to be done. computed: its
  // checksum, if known.
  void Verify(Sample& sample, std::optional<std::uint32_t> computed = {}) const;
  // Parses a payload into the sample's Example and fields.
  void Parse(std::span<const std::byte> payload, Sample& sample) const;
  // Returns the record from the cache, or reads it and adds it to the cache;
  // stores its Example in the sample.
  CachedRecord ReadRecord(Sample& sample);
  // Copies packed pixels and verifies the payload with the same pass over them.
  FillCounts CopyPacked(Sample& sample, std::span<std::uint32_t> words);
  // Why the sample's record cannot be used, where its use threw an error: that,
  // or a wrong checksum that was still to be found.
  [[nodiscard]] DataError Cause(Sample& sample, const DataError& error) const;
  // Fills the slot or throws.
  void FillOrThrow(Sample& sample);
  void DecodeIntoSlot(Sample& sample);
  // The same; returns what is wrong with the record.
  std::optional<DataError> DecodeIfGood(Sample& sample);
  // Decodes or copies the image and augments it.
  FillCounts FillWords(Sample& sample, std::span<std::uint32_t> words);
  // Counts and traces the work done for a slot since `start`.
  void Count(const FillCounts& counts, std::size_t slot_bytes,
             StageCounter::Clock::time_point start, const Sample& sample);
  // Decodes into the slot, and counts how the seek index was used.
  FillCounts Decode(Sample& sample, std::span<std::uint32_t> pixels);
  // Returns the sealed index of the sample's JPEG from beside its shard, or as
  // it was found; else cached, which may be empty.
  std::span<const std::byte> FindIndex(Sample& sample,
                                       std::span<const std::byte> cached) const;
  // Keeps a found index of the sample's JPEG.
  void KeepIndex(const Sample& sample, std::string_view body, int new_rows);
  // Adds a span of work on the sample to the trace, if there is one.
  void Trace(std::string_view stage, StageCounter::Clock::time_point start,
             StageCounter::Clock::time_point end, const Sample& sample) const;
  // Draws one of an epoch's records at random.
  [[nodiscard]] std::int64_t DrawnRecord(const SampleKey& key,
                                         SampleRandom& draws) const;
  // Fill the slot; on failure add the bad records met to `bad` and return
  // false. The second one loads substitutes until one fills the slot.
  bool TryFill(Sample& sample, std::vector<BadRecord>& bad);
  bool FillWithSubstitute(Sample& sample, std::vector<BadRecord>& bad);
  // The bad-record entry for sample.record, with its place.
  [[nodiscard]] BadRecord Describe(const Sample& sample,
                                   const DataError& error) const;

  const RecordStore& store_;
  const SeekStore& seek_store_;
  std::int64_t places_;
  InputOptions options_;
  StageCounters& counters_;
  RecordCache* cache_;       // null: none
  FoundSeekIndexes* found_;  // null: none
  SeekIndexCounts seek_counts_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace infeed
