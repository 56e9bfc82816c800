#include "pipeline/remote/opened_stream.h"

#include <utility>

#include "base/error.h"
#include "pipeline/reading/packed_reading.h"
#include "pipeline/reading/store_options.h"

namespace infeed {
namespace {

// The stream's options with those of the worker. A batch is a range, and each
// range has a decoder, as if a thread of its own filled it.
InputOptions OptionsHere(InputOptions options, const WorkerOptions& worker) {
  options.batch_size = OpenedStream::kMostSlots;
  options.batches_in_pool = OpenedStream::MostRanges(worker);
  options.threads = OpenedStream::MostRanges(worker);
  options.use_cache = worker.use_cache;
  options.verify_checksums = worker.verify_checksums;
  options.map_files = worker.map_files;
  options.memory_limit = worker.memory_limit;
  return options;
}

MemoryPlan PlanFor(const RecordIndex& data, const InputOptions& options) {
  if (data.any_compressed()) {
    throw UsageError(
        "the shards are compressed, so they have no random access, which a "
        "worker needs: make shards that have it with `records reshard`");
  }
  return PlanMemory(options, PlannedDataOf(data, {}));
}

}  // namespace

OpenedStream::OpenedStream(std::shared_ptr<const RecordIndex> data,
                           const InputOptions& options,
                           const WorkerOptions& worker)
    : data_(std::move(data)),
      options_(OptionsHere(options, worker)),
      memory_(PlanFor(*data_, options_)),
      store_(*data_, StoreOptionsOf(*data_, options_)),
      seek_store_(*data_, SeekStore::kMaxOpen, options_.image_key),
      found_(options_.seek_index == SeekIndexes::kAuto
                 ? std::make_unique<FoundSeekIndexes>(*data_, seek_store_,
                                                      memory_.seek_indexes,
                                                      options_.image_key)
                 : nullptr),
      cache_(memory_.cache, data_->size()),
      filler_(store_, seek_store_, PlannedOptions(options_, memory_),
              memory_.cache > 0 ? &cache_ : nullptr, found_.get()) {}

void OpenedStream::NoteEpoch(std::uint32_t epoch) {
  std::uint32_t last = epoch_.load(std::memory_order_relaxed);
  while (epoch > last) {
    if (epoch_.compare_exchange_weak(last, epoch, std::memory_order_relaxed)) {
      if (found_) {
        found_->Save();
      }
      return;
    }
  }
}

}  // namespace infeed
