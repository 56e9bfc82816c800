#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "pipeline/options/options.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/opened_data.h"
#include "pipeline/reading/record_cache.h"
#include "pipeline/remote/worker_service.h"
#include "pipeline/slots/range_filler.h"
#include "records/store/record_index.h"

namespace infeed {

// A stream whose slots a worker fills: its filler, and what that needs.
// Thread-safe.
class OpenedStream {
 public:
  // The most slots of a range.
  static constexpr int kMostSlots = 64;

  // options: OptionsOfSettings(). worker: its threads are not 0, memory_limit
  // and use_cache are what is left to the stream. Throws UsageError for data
  // that cannot be read in any order, and if the memory is too small.
  OpenedStream(std::shared_ptr<const RecordIndex> index,
               const InputOptions& options, const WorkerOptions& worker);

  // The ranges that a worker has at most. While one is filled, another one may
  // be on its way.
  [[nodiscard]] static int MostRanges(const WorkerOptions& worker) {
    return 2 * worker.threads;
  }

  [[nodiscard]] const RecordIndex& data() const { return *index_; }
  [[nodiscard]] RangeFiller& filler() { return filler_; }
  // The memory that it keeps beside ranges: of its cache and of the seek
  // indexes that it finds.
  [[nodiscard]] std::int64_t kept_bytes() const {
    return data_.memory.cache + data_.memory.seek_indexes;
  }
  [[nodiscard]] bool has_cache() const { return data_.memory.cache > 0; }

  // Notes that a slot of this epoch is asked for. With the first one of a later
  // epoch the seek indexes that were found are saved.
  void NoteEpoch(std::uint32_t epoch);

 private:
  const std::shared_ptr<const RecordIndex> index_;
  OpenedData data_;
  const std::unique_ptr<FoundSeekIndexes> found_;  // null: not wanted
  RecordCache cache_;
  RangeFiller filler_;
  std::atomic<std::uint32_t> epoch_{0};
};

}  // namespace infeed
