#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/opened_data.h"
#include "pipeline/slots/slot_filler.h"
#include "pipeline/stats/stage_counters.h"
#include "preprocess/recipe/geometry.h"
#include "records/store/record_index.h"

namespace infeed {

// What a slot of a batch holds: where its record is, and how the image was
// made of it.
struct SampleDescription {
  std::int64_t record = -1;    // of the index; -1: none, the slot is empty
  std::string shard = {};      // its path
  std::int64_t number = 0;     // of the record in the shard, from 0
  std::string file_name = {};  // image/filename; "": the record has none
  std::int32_t label = -1;     // as Batch::labels()
  Geometry geometry = {};      // of the image, not of further views
  // In the order in which they were applied: AugmentStepText().
  std::vector<std::string> augmentations = {};
};

// Random access to the batches of a stream: any batch of any epoch, filled in
// the caller's thread, with the bytes that an InputPipeline of the same data
// and options gives it. The cost is that of one batch and of the epoch's order,
// wherever the batch is.
//
// A bad record is treated by its policy, but it is neither reported nor counted
// against a budget, as that depends on the batches before it. Options of
// threads, workers, caches and pinned memory are not used. A batch, and a
// decoder while it is filled, come on top of memory_limit. In compressed shards
// all records before the batch's own are unpacked.
//
// The index must outlive it; batches may outlive it. Thread-safe. The
// constructor throws as InputPipeline's.
class BatchLookup {
 public:
  BatchLookup(const RecordIndex& index, const InputOptions& options);
  BatchLookup(const BatchLookup&) = delete;
  BatchLookup& operator=(const BatchLookup&) = delete;

  // Returns this rank's part of the number-th global batch that begins in the
  // epoch. place: where the stream begins, or any batch of it: with
  // last_batch=carry the bytes depend on it (PlanAt()). Its `fed` has this
  // batch alone. Throws UsageError where the epoch has no such batch, and what
  // a stage of the stream would.
  [[nodiscard]] BatchHandle At(std::uint32_t epoch, std::int64_t number,
                               const StreamPosition& place = {});

  // Describes each slot of a batch of this stream, also one that a pipeline
  // made. The file names are read from the records, but for image files; where
  // those cannot be read any more they are empty.
  [[nodiscard]] std::vector<SampleDescription> Describe(
      const Batch& batch) const;

 private:
  [[nodiscard]] SampleDescription DescribeSlot(const Batch& batch,
                                               std::size_t slot) const;
  void AddFileNames(std::vector<SampleDescription>& samples) const;
  // The key of a sample's draws.
  [[nodiscard]] SampleKey KeyOf(const Batch& batch, std::size_t slot) const;

  const RecordIndex& index_;
  const InputOptions options_;
  const SampleOrder order_;
  OpenedData data_;
  StageCounters counters_;
  SlotFiller filler_;
};

}  // namespace infeed
