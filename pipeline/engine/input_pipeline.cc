#include "pipeline/engine/input_pipeline.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/error.h"
#include "base/seconds.h"
#include "pipeline/engine/bad_record_ledger.h"
#include "pipeline/engine/batch_planner.h"
#include "pipeline/engine/closed_arena.h"
#include "pipeline/engine/input_graph.h"
#include "pipeline/engine/open_batch.h"
#include "pipeline/engine/slot_filler.h"
#include "pipeline/memory/memory_limit.h"
#include "pipeline/memory/record_cache.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/packed_reading.h"
#include "pipeline/reading/prefetcher.h"
#include "pipeline/stats/consumer_counts.h"
#include "pipeline/stats/storage_reads.h"
#include "pipeline/stats/trace_log.h"
#include "records/files/output_check.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {
namespace {

using Clock = StageCounter::Clock;

// A whole batch on its way to the consumer.
struct ReadyBatch {
  BatchHandle batch;
  Clock::time_point since;
};

// Data that stay in the page cache gain by being mapped. Larger data would not
// stay, and their pages are given back later if they are mapped. A cache reads
// each record once.
bool MapsFiles(const RecordIndex& index, const InputOptions& options) {
  if (!options.map_files || options.use_cache) {
    return false;
  }
  std::int64_t bytes = 0;
  for (std::size_t shard = 0; shard < index.shards().size(); ++shard) {
    bytes += index.shard_bytes(shard);
  }
  try {
    return bytes <= MachineMemory() / 2;
  } catch (const IoError&) {  // Not known here: files are read.
    return false;
  }
}

// The options, checked; the report must not be one of the index's files. Where
// oneTBB does not work, the same batches are made one record after the other.
InputOptions CheckedReport(const InputOptions& options,
                           const RecordIndex& index) {
  InputOptions checked = CheckedInputOptions(options);
  if (!checked.bad_record_report.empty()) {
    CheckOutputs({{"bad_record_report", BadRecordReportPath(checked)}},
                 index.shards());
  }
  if (!ClosedArena::WorksHere()) {
    checked.graph = GraphKind::kBasic;
  }
  return checked;
}

}  // namespace

// Members are in the order in which data passes them; destruction, in reverse
// order, thus ends each thread before destroying what it uses.
class InputPipeline::Impl {
 public:
  Impl(const RecordIndex& index, const InputOptions& options,
       const StreamPosition& start);
  ~Impl() { Stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::optional<BatchHandle> NextUntil(Deadline deadline);
  void Stop();
  [[nodiscard]] StreamPosition position() const { return position_; }
  [[nodiscard]] std::string State() const {
    return BuildStreamState(StateOf(index_, options_, position_));
  }
  [[nodiscard]] bool all_lent() const {
    return pool_.lent() == options_.batches_in_pool;
  }
  [[nodiscard]] PipelineStats stats() const;
  [[nodiscard]] const MemoryPlan& memory() const { return memory_; }
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return sequence_.batches_per_epoch();
  }

 private:
  [[nodiscard]] bool is_basic() const {
    return options_.graph == GraphKind::kBasic;
  }
  // The driver thread's function: plans batches as the pool has room for them.
  void Drive();
  // Puts one batch into the graph. Returns false when there is no further
  // batch, or on an error, which Next() then throws.
  bool TryPutNext();
  bool PutNext();
  // The graph's exit, called by a worker for one batch after the other.
  void Deliver(OpenBatch& open);
  // Makes a batch that has left the queue the consumer's.
  BatchHandle HandOut(ReadyBatch ready, Clock::time_point now);
  // Announces records that are not in the cache to the store; null in the basic
  // graph, where nothing could be loaded meanwhile.
  [[nodiscard]] Prefetcher::Announce Announcing() const;
  // Enters a batch's bad records; returns the error that ends the stream, or
  // nullptr.
  std::exception_ptr Account(OpenBatch& open);

  const RecordIndex& index_;
  const InputOptions options_;
  const SampleOrder order_;
  const BatchSequence sequence_;  // at the start
  BadRecordLedger ledger_;
  const PackedReading packed_;
  const MemoryPlan memory_;
  const RecordStore store_;
  SeekStore seek_store_;
  const std::unique_ptr<FoundSeekIndexes> found_indexes_;  // null: not wanted
  const Clock::time_point started_ = Clock::now();
  const std::int64_t storage_bytes_before_ = StorageBytesRead();
  StreamPosition position_;
  std::int64_t taken_ = 0;     // batches that were handed out
  Clock::duration waited_{0};  // for the next batch so far
  StageCounters counters_;
  ConsumerCounts consumer_;
  std::atomic<Clock::rep> first_batch_{0};  // since started_; 0: not yet
  std::atomic<bool> stopped_{false};

  RecordCache cache_;
  BatchPool pool_;
  BoundedQueue<ReadyBatch> ready_;
  SlotFiller filler_;
  BatchPlanner planner_;  // used by the driver only, once it runs
  InputGraph graph_;
  std::jthread driver_;  // none in the basic graph: Next() drives
};

InputPipeline::Impl::Impl(const RecordIndex& index, const InputOptions& options,
                          const StreamPosition& start)
    : index_(index),
      options_(ResolvedOptions(CheckedReport(options, index), index)),
      order_(ShardSizes(index, options_.max_records), options_),
      sequence_(order_.places(), options_, start),
      ledger_(options_, sequence_.batches_per_epoch()),
      packed_(PlanPackedReading(index, options_)),
      memory_(PlanMemory(options_, PlannedDataOf(index, packed_))),
      store_(index, {.verify_checksums = options_.verify_checksums,
                     .map_files = MapsFiles(index, options_),
                     .packed = packed_.store,
                     .image_key = options_.image_key}),
      seek_store_(index, SeekStore::kMaxOpen, options_.image_key),
      found_indexes_(options_.seek_index == SeekIndexes::kAuto
                         ? std::make_unique<FoundSeekIndexes>(
                               index, seek_store_, memory_.seek_indexes,
                               options_.image_key)
                         : nullptr),
      position_(sequence_.position()),
      cache_(memory_.cache, index.size()),
      pool_(options_.batches_in_pool, options_.batch_size / options_.world_size,
            options_.image_size, options_.batch_memory, options_.layout),
      ready_(static_cast<std::size_t>(options_.batches_in_pool)),
      filler_(store_, seek_store_, order_.places(),
              PlannedOptions(options_, memory_), counters_,
              memory_.cache > 0 ? &cache_ : nullptr, found_indexes_.get()),
      planner_(Prefetcher(order_, sequence_, PlanPrefetch(index, options_),
                          Announcing()),
               options_, counters_),
      graph_(filler_,
             {.threads = is_basic() ? 0 : options_.threads,
              .slots_per_task = SlotsPerTask(options_)},
             [this](OpenBatch& open) { Deliver(open); }) {
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
  OpenBatch* const open = planner_.BeginNext(pool_);
  if (open == nullptr) {
    if (planner_.count() == 0) {
      ready_.Close();  // There was no batch, so no last one closes it.
    }
    return false;
  }
  graph_.Put(*open);
  return true;
}

Prefetcher::Announce InputPipeline::Impl::Announcing() const {
  if (is_basic()) {
    return nullptr;
  }
  return [this](std::vector<std::int64_t>& records) {
    std::erase_if(records, [&](auto record) { return cache_.Has(record); });
    store_.WillRead(records);
  };
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
    return;  // The stream ended before this batch; its slots may be unfilled.
  }
  if (std::exception_ptr error = Account(open)) {
    ready_.Close(std::move(error));
    filler_.Cancel();
    pool_.Close();
    return;
  }
  open.GatherFields(options_.fields.size());
  const Clock::time_point now = Clock::now();
  Clock::rep unset = 0;
  first_batch_.compare_exchange_strong(unset, (now - started_).count());
  const bool last = open.plan().last;
  if (found_indexes_ && open.plan().next.epoch != open.plan().epoch) {
    found_indexes_->Save();
  }
  counters_.ready.Add(1);
  counters_.TraceQueues(options_.trace, now);
  // There is always room: the queue is as long as the pool.
  ready_.Push({open.TakeBatch(), now});
  if (last) {
    ready_.Close();
  }
}

std::optional<BatchHandle> InputPipeline::Impl::NextUntil(Deadline deadline) {
  if (stopped_) {
    return BatchHandle();
  }
  const Clock::time_point start = Clock::now();
  consumer_.Requested(start);
  if (is_basic()) {
    (void)TryPutNext();
  }
  std::optional<std::optional<ReadyBatch>> ready;
  try {
    ready = ready_.PopUntil(deadline);
  } catch (...) {
    consumer_.Ended(Clock::now());
    throw;
  }
  const Clock::time_point end = Clock::now();
  if (ready && !*ready) {
    consumer_.Ended(end);
    return BatchHandle();
  }
  waited_ += end - start;
  TraceSpan(options_.trace, "batch", start, end,
            {.epoch = position_.epoch,
             .position = position_.position,
             .batch = taken_});
  if (!ready) {
    return std::nullopt;
  }
  return HandOut(std::move(**ready), end);
}

BatchHandle InputPipeline::Impl::HandOut(ReadyBatch ready,
                                         Clock::time_point now) {
  BatchHandle batch = pool_.Lend(std::move(ready.batch), options_.max_lent);
  if (batch.get_deleter().pool == nullptr) {
    consumer_.Copied();
  }
  counters_.ready.Add(-1);
  const std::int64_t images =
      consumer_.Delivered(*batch, std::exchange(waited_, {}));
  counters_.batch.Add(static_cast<std::int64_t>(batch->image_bytes().size()),
                      Clock::duration::zero(), now - ready.since, images);
  counters_.TraceQueues(options_.trace, now);
  position_ = batch->next;
  ++taken_;
  return batch;
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
  const Clock::duration first(first_batch_.load(std::memory_order_relaxed));
  stats.first_batch_seconds = ToSeconds(first);
  stats.threads = is_basic() ? 1 : options_.threads;
  stats.cores = static_cast<int>(std::thread::hardware_concurrency());
  stats.overlapped = !is_basic();
  stats.memory_bytes = memory_.total();
  stats.storage_bytes = StorageBytesRead() - storage_bytes_before_;
  stats.bad_record_totals = ledger_.totals();
  stats.bad_records = stats.bad_record_totals.met();
  stats.first_bad_record = stats.bad_record_totals.first;
  stats.cache = cache_.stats();
  stats.seek_indexes = filler_.seek_indexes();
  if (found_indexes_) {
    stats.seek_indexes.write_error = found_indexes_->write_error();
  }
  stats.of_image_files = index_.is_of_images();
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

InputPipeline::InputPipeline(std::shared_ptr<const RecordIndex> index,
                             const InputOptions& options,
                             const StreamPosition& start)
    : index_(std::move(index)) {
  Check(index_ != nullptr, "the pipeline has an index");
  impl_ = std::make_unique<Impl>(*index_, options, start);
}

InputPipeline::~InputPipeline() {
  if (!process_.IsCurrent()) {
    // Its threads are not here, so joining them, or destroying what they wait
    // for, would never end.
    (void)impl_.release();
  }
}

void InputPipeline::CheckProcess() const {
  if (!process_.IsCurrent()) {
    throw UsageError(
        "this pipeline was made before fork(), and its threads are not in the "
        "child: make a pipeline in the child");
  }
}

std::optional<BatchHandle> InputPipeline::NextUntil(Deadline deadline) {
  CheckProcess();
  return impl_->NextUntil(deadline);
}

BatchHandle InputPipeline::Next() { return NextUntil(kNoDeadline).value(); }

void InputPipeline::Stop() {
  if (process_.IsCurrent()) {
    impl_->Stop();
  }
}

PipelineStats InputPipeline::stats() const {
  CheckProcess();
  return impl_->stats();
}

bool InputPipeline::all_lent() const { return impl_->all_lent(); }
StreamPosition InputPipeline::position() const { return impl_->position(); }
std::string InputPipeline::State() const { return impl_->State(); }
const MemoryPlan& InputPipeline::memory() const { return impl_->memory(); }
std::int64_t InputPipeline::batches_per_epoch() const {
  return impl_->batches_per_epoch();
}

}  // namespace infeed
