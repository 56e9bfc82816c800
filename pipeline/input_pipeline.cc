#include "pipeline/input_pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "pipeline/batch_plan.h"
#include "pipeline/consumer_counts.h"
#include "pipeline/input_graph.h"
#include "pipeline/memory_plan.h"
#include "pipeline/open_batch.h"
#include "pipeline/packed_reading.h"
#include "pipeline/prefetcher.h"
#include "pipeline/sample_order.h"
#include "pipeline/slot_filler.h"
#include "records/record_store.h"
#include "records/seek_store.h"

namespace infeed {
namespace {

using Clock = StageCounter::Clock;

// A whole batch on its way to the consumer.
struct ReadyBatch {
  BatchHandle batch;
  Clock::time_point since;
};

std::int64_t RecordsUsed(const RecordIndex& index,
                         const InputOptions& options) {
  return options.max_records == 0 ? index.size()
                                  : std::min(index.size(), options.max_records);
}

}  // namespace

// Members are in the order of the data's way, so that destruction, which goes
// backwards, ends each thread before what it uses.
class InputPipeline::Impl {
 public:
  Impl(const RecordIndex& index, const InputOptions& options,
       const StreamPosition& start);
  ~Impl() { Stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  BatchHandle Next();
  void Stop();
  [[nodiscard]] StreamPosition position() const { return position_; }
  [[nodiscard]] PipelineStats stats() const;
  [[nodiscard]] std::int64_t memory_bytes() const { return memory_.total(); }
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return batches_per_epoch_;
  }

 private:
  // The driver's thread: plans batches as the pool has room for them.
  void Drive();
  // Puts one batch into the graph; false when there is none to come.
  bool PutNext(std::int64_t number, EpochOrder& order, std::uint32_t& epoch);
  // A worker, batch after batch: the way out of the graph.
  void Deliver(OpenBatch& open);

  const InputOptions options_;
  const std::int64_t records_;
  BatchSequence sequence_;  // the driver's, once it runs
  const std::int64_t batches_per_epoch_;
  const PackedReading packed_;
  const MemoryPlan memory_;
  const SampleOrder order_;
  const RecordStore store_;
  Prefetcher prefetcher_;  // the driver's
  const SeekStore seek_store_;
  const Clock::time_point started_ = Clock::now();
  StreamPosition position_;
  StageCounters counters_;
  ConsumerCounts consumer_;
  std::atomic<Clock::rep> first_batch_{0};  // since started_; 0: not yet
  std::atomic<bool> stopped_{false};

  BatchPool pool_;
  BoundedQueue<ReadyBatch> ready_;
  SlotFiller filler_;
  // Those in the graph: batch i is in place i mod the size of the pool, which
  // batch i - size has left, as there are no more batches than that.
  std::vector<OpenBatch> open_;
  InputGraph graph_;
  std::jthread driver_;
};

InputPipeline::Impl::Impl(const RecordIndex& index, const InputOptions& options,
                          const StreamPosition& start)
    : options_(CheckedInputOptions(options)),
      records_(RecordsUsed(index, options_)),
      sequence_(records_, options_, start),
      batches_per_epoch_(sequence_.batches_per_epoch()),
      packed_(PlanPackedReading(index, options_)),
      memory_(PlanMemory(options_, index.max_length(), packed_.memory_bytes)),
      order_(records_, options_.shuffle, options_.seed),
      store_(index, {.verify_checksums = options_.verify_checksums,
                     .packed = packed_.store}),
      prefetcher_(order_, sequence_, PlanPrefetch(index, options_),
                  [this](auto records) { store_.WillRead(records); }),
      seek_store_(index),
      position_(sequence_.position()),
      pool_(options_.batches_in_pool, options_.batch_size / options_.world_size,
            options_.image_size),
      ready_(static_cast<std::size_t>(options_.batches_in_pool)),
      filler_(store_, seek_store_, records_, options_, counters_),
      open_(ready_.capacity()),
      graph_(filler_,
             {.threads = options_.threads,
              .samples_in_flight = SamplesInFlight(options_)},
             [this](OpenBatch& open) { Deliver(open); }),
      driver_([this] { Drive(); }) {}

void InputPipeline::Impl::Drive() {
  try {
    std::uint32_t epoch = sequence_.position().epoch;
    EpochOrder order = order_.Epoch(epoch);
    for (std::int64_t number = 0; PutNext(number, order, epoch); ++number) {
    }
  } catch (...) {
    ready_.Close(std::current_exception());
  }
}

bool InputPipeline::Impl::PutNext(std::int64_t number, EpochOrder& order,
                                  std::uint32_t& epoch) {
  const std::optional<BatchPlan> plan = sequence_.Next();
  if (!plan) {
    if (number == 0) {
      ready_.Close();  // No last batch will do it.
    }
    return false;
  }
  prefetcher_.Reach(number);
  const Clock::time_point start = Clock::now();
  BatchHandle batch = pool_.Take();
  if (!batch) {
    return false;
  }
  const Clock::time_point taken = Clock::now();
  if (plan->epoch != epoch) {
    epoch = plan->epoch;
    order = order_.Epoch(epoch);
  }
  OpenBatch& open = open_[static_cast<std::size_t>(number) % open_.size()];
  open.Begin(number, *plan, order, std::move(batch));
  counters_.order.Add(0, Clock::now() - taken, taken - start, plan->samples);
  graph_.Put(open);
  return true;
}

void InputPipeline::Impl::Deliver(OpenBatch& open) {
  if (std::exception_ptr error = open.error()) {
    ready_.Close(std::move(error));
    filler_.Cancel();
    pool_.Close();
    return;
  }
  const Clock::time_point now = Clock::now();
  Clock::rep unset = 0;
  first_batch_.compare_exchange_strong(unset, (now - started_).count());
  const bool last = open.plan().last;
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
  const Batch& batch = *ready->batch;
  const std::int64_t images = consumer_.Delivered(batch, end - start);
  counters_.batch.Add(static_cast<std::int64_t>(batch.pixels().size_bytes()),
                      Clock::duration::zero(), end - ready->since, images);
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
  stats.threads = options_.threads;
  stats.bad_records = filler_.bad_records().count();
  stats.first_bad_record = filler_.bad_records().first();
  stats.seek_indexes = filler_.seek_indexes();
  stats.stages = counters_.Read();
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
PipelineStats InputPipeline::stats() const { return impl_->stats(); }
std::int64_t InputPipeline::memory_bytes() const {
  return impl_->memory_bytes();
}
std::int64_t InputPipeline::batches_per_epoch() const {
  return impl_->batches_per_epoch();
}

}  // namespace infeed
