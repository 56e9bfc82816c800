#include "pipeline/input_pipeline.h"

#include <pthread.h>

#include <algorithm>

#include "pipeline/input_pipeline_impl.h"
#include "records/open_source.h"

namespace infeed {
namespace {

PlannedData DataOf(const RecordIndex& index, const PackedReading& packed) {
  return {.records = index.size(),
          .longest_record = index.max_length(),
          .in_cloud = std::ranges::any_of(index.shards(), IsUrl),
          .compressed_bytes = packed.memory_bytes};
}

InputOptions WithPlan(InputOptions options, const MemoryPlan& plan) {
  options.jpeg_limits = PlannedJpegLimits(options.jpeg_limits, plan);
  return options;
}

}  // namespace

InputPipeline::Impl::Impl(const RecordIndex& index, const InputOptions& options,
                          const StreamPosition& start)
    : index_(index),
      options_(CheckedInputOptions(options)),
      order_(ShardSizes(index, options_.max_records), options_),
      sequence_(order_.places(), options_, start),
      batches_per_epoch_(sequence_.batches_per_epoch()),
      ledger_(options_, batches_per_epoch_),
      packed_(PlanPackedReading(index, options_)),
      memory_(PlanMemory(options_, DataOf(index, packed_))),
      store_(index, {.verify_checksums = options_.verify_checksums,
                     .packed = packed_.store}),
      prefetcher_(order_, sequence_, PlanPrefetch(index, options_),
                  [this](auto& records) { WillRead(records); }),
      seek_store_(index),
      position_(sequence_.position()),
      cache_(memory_.cache, index.size()),
      pool_(options_.batches_in_pool, options_.batch_size / options_.world_size,
            options_.image_size),
      ready_(static_cast<std::size_t>(options_.batches_in_pool)),
      filler_(store_, seek_store_, order_.places(), WithPlan(options_, memory_),
              counters_, &cache_),
      open_(ready_.capacity()),
      graph_(filler_,
             {.threads = is_basic() ? 0 : options_.threads,
              .slots_per_task = SlotsPerTask(options_)},
             [this](OpenBatch& open) { Deliver(open); }),
      epoch_(sequence_.position().epoch),
      epoch_order_(order_.Epoch(epoch_)) {
  if (!is_basic()) {
    driver_ = std::jthread([this] { Drive(); });
  }
}

void InputPipeline::Impl::Drive() {
  (void)::pthread_setname_np(::pthread_self(), "infeed driver");
  while (TryPutNext()) {
  }
}

bool InputPipeline::Impl::TryPutNext() {
  try {
    return PutNext();
  } catch (...) {
    ready_.Close(std::current_exception());
    return false;
  }
}

bool InputPipeline::Impl::PutNext() {
  const std::optional<BatchPlan> plan = sequence_.Next();
  if (!plan) {
    if (number_ == 0) {
      ready_.Close();  // No last batch will do it.
    }
    return false;
  }
  if (!is_basic()) {
    prefetcher_.Reach(number_);
  }
  const Clock::time_point start = Clock::now();
  BatchHandle batch = pool_.Take();
  if (!batch) {
    return false;
  }
  const Clock::time_point taken = Clock::now();
  if (plan->epoch != epoch_) {
    epoch_ = plan->epoch;
    epoch_order_ = order_.Epoch(epoch_);
  }
  OpenBatch& open = open_[static_cast<std::size_t>(number_) % open_.size()];
  open.Begin(number_, *plan, epoch_order_, std::move(batch));
  const TracePlace place{
      .epoch = plan->epoch, .position = plan->first, .batch = number_++};
  const Clock::time_point planned = Clock::now();
  counters_.order.Add(0, planned - taken, taken - start, plan->samples);
  counters_.waiting.Add(plan->samples);
  TraceSpan(options_.trace, "wait", start, taken, place);
  TraceSpan(options_.trace, "order", taken, planned, place);
  counters_.TraceQueues(options_.trace, planned);
  graph_.Put(open);
  return true;
}

void InputPipeline::Impl::WillRead(std::vector<std::int64_t>& records) const {
  std::erase_if(records, [&](auto record) { return cache_.Has(record); });
  store_.WillRead(records);
}

std::exception_ptr InputPipeline::Impl::Account(OpenBatch& open) {
  try {
    ledger_.Enter(open.BadRecords(), open.plan().samples);
  } catch (...) {
    return std::current_exception();
  }
  return open.error();
}

void InputPipeline::Impl::Deliver(OpenBatch& open) {
  if (filler_.is_cancelled()) {
    return;  // Slots may be as they were: the stream has ended before it.
  }
  if (std::exception_ptr error = Account(open)) {
    ready_.Close(std::move(error));
    filler_.Cancel();
    pool_.Close();
    return;
  }
  const Clock::time_point now = Clock::now();
  Clock::rep unset = 0;
  first_batch_.compare_exchange_strong(unset, (now - started_).count());
  const bool last = open.plan().last;
  counters_.ready.Add(1);
  counters_.TraceQueues(options_.trace, now);
  // There is always room: the queue is as long as the pool.
  ready_.Push({open.TakeBatch(), now});
  if (last) {
    ready_.Close();
  }
}

BatchHandle InputPipeline::Impl::Next() {
  if (stopped_) {
    return nullptr;
  }
  const Clock::time_point start = Clock::now();
  consumer_.Asked(start);
  if (is_basic()) {
    (void)TryPutNext();
  }
  std::optional<ReadyBatch> ready;
  try {
    ready = ready_.Pop();
  } catch (...) {
    consumer_.Ended(Clock::now());
    throw;
  }
  const Clock::time_point end = Clock::now();
  if (!ready) {
    consumer_.Ended(end);
    return nullptr;
  }
  counters_.ready.Add(-1);
  const Batch& batch = *ready->batch;
  const std::int64_t images = consumer_.Delivered(batch, end - start);
  counters_.batch.Add(static_cast<std::int64_t>(batch.pixels().size_bytes()),
                      Clock::duration::zero(), end - ready->since, images);
  TraceSpan(options_.trace, "batch", start, end,
            {.epoch = position_.epoch,
             .position = position_.position,
             .batch = taken_++});
  counters_.TraceQueues(options_.trace, end);
  position_ = batch.next;
  return std::move(ready->batch);
}

void InputPipeline::Impl::Stop() {
  stopped_ = true;
  ready_.Cancel();
  filler_.Cancel();
  pool_.Close();
}

PipelineStats InputPipeline::Impl::stats() const {
  PipelineStats stats;
  consumer_.Read(stats);
  stats.first_batch_seconds =
      std::chrono::duration<double>(
          Clock::duration(first_batch_.load(std::memory_order_relaxed)))
          .count();
  stats.threads = is_basic() ? 1 : options_.threads;
  stats.overlapped = !is_basic();
  stats.memory_bytes = memory_.total();
  stats.storage_bytes = StorageBytesRead() - storage_bytes_before_;
  stats.bad_record_totals = ledger_.totals();
  stats.bad_records = stats.bad_record_totals.met();
  stats.first_bad_record = stats.bad_record_totals.first;
  stats.cache = cache_.stats();
  stats.seek_indexes = filler_.seek_indexes();
  stats.outside_pixels =
      counters_.outside_pixels.load(std::memory_order_relaxed);
  stats.stages = counters_.Read();
  stats.queues = counters_.ReadQueues();
  stats.queues.push_back({"free", pool_.free(), options_.batches_in_pool});
  return stats;
}

InputPipeline::InputPipeline(const RecordIndex& index,
                             const InputOptions& options,
                             const StreamPosition& start)
    : impl_(std::make_unique<Impl>(index, options, start)) {}

InputPipeline::~InputPipeline() = default;

BatchHandle InputPipeline::Next() { return impl_->Next(); }
void InputPipeline::Stop() { impl_->Stop(); }
StreamPosition InputPipeline::position() const { return impl_->position(); }
std::string InputPipeline::State() const { return impl_->State(); }
PipelineStats InputPipeline::stats() const { return impl_->stats(); }
const MemoryPlan& InputPipeline::memory() const { return impl_->memory(); }
std::int64_t InputPipeline::batches_per_epoch() const {
  return impl_->batches_per_epoch();
}

}  // namespace infeed
