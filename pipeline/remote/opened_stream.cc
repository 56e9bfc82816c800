#include "pipeline/remote/opened_stream.h"

#include <utility>

#include "base/error.h"

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

const RecordIndex& WithRandomAccess(const RecordIndex& data) {
  if (data.any_compressed()) {
    throw UsageError(
        "the shards are compressed, so they have no random access, which a "
        "worker needs: make shards that have it with `records reshard`");
  }
  return data;
}

}  // namespace

OpenedStream::OpenedStream(std::shared_ptr<const RecordIndex> index,
                           const InputOptions& options,
                           const WorkerOptions& worker)
    : index_(std::move(index)),
      data_(WithRandomAccess(*index_), OptionsHere(options, worker)),
      found_(data_.options.seek_index == SeekIndexes::kAuto
                 ? std::make_unique<FoundSeekIndexes>(*index_, data_.seek_store,
                                                      data_.memory.seek_indexes,
                                                      data_.options.image_key)
                 : nullptr),
      cache_(data_.memory.cache, index_->size()),
      filler_(data_.store, data_.seek_store, data_.options,
              has_cache() ? &cache_ : nullptr, found_.get()) {}

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
