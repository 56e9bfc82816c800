#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "base/bounded_queue.h"
#include "base/error.h"
#include "base/random.h"
#include "pipeline/counted_errors.h"
#include "pipeline/open_batch.h"
#include "pipeline/options.h"
#include "pipeline/sample_seek_index.h"
#include "pipeline/stats.h"
#include "preprocess/recipe.h"
#include "records/imagenet_example.h"
#include "records/record_store.h"
#include "records/seek_store.h"

namespace infeed {

// A sample on its way from a shard to its slot. Owns the record's bytes; its
// buffer is used again for the next sample.
struct Sample {
  OpenBatch* batch = nullptr;
  int slot = 0;
  SampleKey key = {};
  std::int64_t record = 0;
  Access access = Access::kInOrder;
  std::vector<std::byte> buffer = {};
  ImagenetExampleView example = {};  // views into buffer
  SampleSeekIndex seek_index = {};
  std::exception_ptr failure = {};             // why there is no example
  StageCounter::Clock::time_point since = {};  // it waits for the next stage
};

// The work on one sample, as two stages without any knowledge of threads:
// Read() gets the record and parses it, Fill() decodes the image and writes
// pixels, label and weight into the slot. What becomes of a bad record is
// decided here: the one place that catches DataError.
//
// The stores and the counters must outlive it. Thread-safe, for different
// samples, with at most options.threads calls of Fill() at once. Neither call
// throws: what ends the stream is left with the sample's batch (Fail()).
class SlotFiller {
 public:
  // Requires: options are checked.
  SlotFiller(const RecordStore& store, const SeekStore& seek_store,
             std::int64_t records, const InputOptions& options,
             StageCounters& counters);

  // Requires: sample.batch, slot and since are set.
  void Read(Sample& sample);

  // Requires: Read(sample) returned.
  void Fill(Sample& sample);

  // From now on slots are left as they are: nobody will see them.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] const CountedErrors& bad_records() const {
    return bad_records_;
  }
  [[nodiscard]] SeekIndexStats seek_indexes() const {
    return seek_counts_.Read();
  }

 private:
  // Reads sample.record and parses it; a failure is kept in the sample.
  void Load(Sample& sample);
  // Fills the slot or throws.
  void FillOrThrow(Sample& sample);
  void DecodeIntoSlot(Sample& sample);
  // Decodes into the slot, and counts what became of the seek index.
  FillCounts Decode(Preprocessor& preprocessor, const Sample& sample,
                    std::span<std::uint32_t> pixels);
  // Loads other records until one fills the slot.
  void FillWithSubstitute(Sample& sample);
  // Adds the origin to a record's error, and counts it.
  DataError Located(const Sample& sample, const DataError& error);

  const RecordStore& store_;
  const SeekStore& seek_store_;
  std::int64_t records_;
  InputOptions options_;
  StageCounters& counters_;
  // The preprocessors that no call is using: one for each worker in all.
  BoundedQueue<std::unique_ptr<Preprocessor>> preprocessors_;
  CountedErrors bad_records_;
  SeekIndexCounts seek_counts_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace infeed
