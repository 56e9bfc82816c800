#include "pipeline/engine/input_pipeline.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/error.h"
#include "base/owner_process.h"
#include "base/seconds.h"
#include "pipeline/engine/bad_record_ledger.h"
#include "pipeline/engine/batch_lookup.h"
#include "pipeline/engine/batch_planner.h"
#include "pipeline/engine/closed_arena.h"
#include "pipeline/engine/input_graph.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/stream_state.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/opened_data.h"
#include "pipeline/reading/prefetcher.h"
#include "pipeline/reading/record_cache.h"
#include "pipeline/remote/range_check.h"
#include "pipeline/remote/rpc_plugin.h"
#include "pipeline/remote/worker_links.h"
#include "pipeline/remote/worker_list.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/slot_filler.h"
#include "pipeline/stats/consumer_counts.h"
#include "pipeline/stats/process_usage.h"
#include "pipeline/stats/trace_log.h"
#include "records/files/output_check.h"

namespace infeed {
namespace {

using Clock = StageCounter::Clock;

// A whole batch on its way to the consumer.
struct ReadyBatch {
  BatchHandle batch;
  Clock::time_point since;
};

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
    if (!checked.workers.empty()) {
      throw UsageError(
          "workers: this process is a child of fork() of one with a pipeline, "
          "where no thread could receive what they make: start it by spawn or "
          "forkserver, or leave workers out");
    }
    checked.graph = GraphKind::kBasic;
  }
  return checked;
}

}  // namespace

// The producing side of a pipeline, up to the queue of whole batches. Members
// are in the order in which data passes them; destruction, in reverse order,
// thus ends each thread before destroying what it uses.
struct InputPipeline::Producer {
  Producer(const RecordIndex& records, const InputOptions& given,
           const StreamPosition& start);
  ~Producer() { Stop(); }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  [[nodiscard]] bool is_basic() const {
    return options.graph == GraphKind::kBasic;
  }
  void Stop();
  // The driver thread's function: plans batches as the pool has room for them.
  void Drive();
  // Puts one batch into the graph. Returns false when there is no further
  // batch, or on an error, which Next() then throws.
  bool TryPutNext();
  bool PutNext();
  // The graph's exit, called by a worker for one batch after the other.
  void Deliver(OpenBatch& open);
  // Makes a batch that has left the queue the consumer's.
  BatchHandle HandOut(ReadyBatch whole, Clock::time_point now);
  // Announces records that are not in the cache to the store, while no worker
  // fills slots: the bytes of its records would be loaded for nobody, and keep
  // the memory for what is loaded ahead. Null in the basic graph, where nothing
  // could be loaded meanwhile.
  [[nodiscard]] Prefetcher::Announce Announcing() const;
  // Enters a batch's bad records; returns the error that ends the stream, or
  // nullptr.
  std::exception_ptr Account(OpenBatch& open);
  // Ends the stream, behind the batches that are ready, from any thread.
  void Fail(std::exception_ptr error);
  // The links to workers on other machines, and their check; null: none.
  [[nodiscard]] std::unique_ptr<WorkerLinks> MakeLinks();

  const RecordIndex& index;
  const InputOptions options;
  const SampleOrder order;
  const BatchSequence sequence;  // at the start
  BadRecordLedger ledger;
  OpenedData data;
  const std::unique_ptr<FoundSeekIndexes> found_indexes;  // null: not wanted
  const OwnerProcess process = {};
  const Clock::time_point started = Clock::now();
  const std::int64_t storage_bytes_before = StorageBytesRead();
  std::int64_t taken = 0;     // batches that were handed out
  Clock::duration waited{0};  // for the next batch so far
  StageCounters counters;
  ConsumerCounts consumer;
  std::atomic<Clock::rep> first_batch{0};  // since started; 0: not yet
  std::atomic<bool> stopped{false};

  RecordCache cache;
  BatchPool pool;
  BoundedQueue<ReadyBatch> ready;
  SlotFiller filler;
  BatchPlanner planner;  // used by the driver only, once it runs
  InputGraph graph;
  std::unique_ptr<RangeCheck> check;         // of the links
  const std::unique_ptr<WorkerLinks> links;  // null: no workers
  std::mutex lookup_mutex;
  std::unique_ptr<BatchLookup> lookup;  // null: not used yet
  std::jthread driver;  // none in the basic graph: Next() drives
};

InputPipeline::Producer::Producer(const RecordIndex& records,
                                  const InputOptions& given,
                                  const StreamPosition& start)
    : index(records),
      options(ResolvedOptions(CheckedReport(given, index), index)),
      order(ShardSizes(index, options.max_records), options),
      sequence(order.places(), options, start),
      ledger(options, sequence.batches_per_epoch()),
      data(index, options),
      found_indexes(options.seek_index == SeekIndexes::kAuto
                        ? std::make_unique<FoundSeekIndexes>(
                              index, data.seek_store, data.memory.seek_indexes,
                              options.image_key)
                        : nullptr),
      cache(data.memory.cache, index.size()),
      pool(options.batches_in_pool, BatchSpecOf(options), options.batch_memory),
      ready(static_cast<std::size_t>(options.batches_in_pool)),
      filler(data.store, data.seek_store, order.places(), data.options,
             counters, data.memory.cache > 0 ? &cache : nullptr,
             found_indexes.get()),
      planner(Prefetcher(order, sequence, PlanPrefetch(index, options),
                         Announcing()),
              options, counters),
      graph(filler,
            {.threads = is_basic() ? 0 : options.threads,
             .slots_per_task = SlotsPerTask(options)},
            [this](OpenBatch& open) { Deliver(open); }),
      links(MakeLinks()) {
  if (!is_basic()) {
    driver = std::jthread([this] { Drive(); });
  }
}

void InputPipeline::Producer::Drive() {
  (void)::pthread_setname_np(::pthread_self(), "infeed driver");
  while (TryPutNext()) {
  }
}

bool InputPipeline::Producer::TryPutNext() {
  try {
    return PutNext();
  } catch (...) {
    ready.Close(std::current_exception());
    return false;
  }
}

bool InputPipeline::Producer::PutNext() {
  OpenBatch* const open = planner.BeginNext(pool);
  if (open == nullptr) {
    if (planner.count() == 0) {
      ready.Close();  // There was no batch, so no last one closes it.
    }
    return false;
  }
  graph.Put(*open);
  if (links) {
    links->Pump();
  }
  return true;
}

Prefetcher::Announce InputPipeline::Producer::Announcing() const {
  if (is_basic()) {
    return nullptr;
  }
  return [this](std::vector<std::int64_t>& records) {
    if (links && links->IsAnyOpen()) {
      return;
    }
    std::erase_if(records, [&](auto record) { return cache.Has(record); });
    data.store.WillRead(records);
  };
}

std::exception_ptr InputPipeline::Producer::Account(OpenBatch& open) {
  try {
    ledger.Enter(open.BadRecords(), open.plan().samples);
  } catch (...) {
    return std::current_exception();
  }
  return open.error();
}

void InputPipeline::Producer::Fail(std::exception_ptr error) {
  ready.Close(std::move(error));
  filler.Cancel();
  pool.Close();
}

std::unique_ptr<WorkerLinks> InputPipeline::Producer::MakeLinks() {
  if (options.workers.empty()) {
    return nullptr;
  }
  RpcLibrary& library = LoadedRpcLibrary();
  check = std::make_unique<RangeCheck>(
      data.store, data.seek_store, data.options, SlotsPerTask(data.options));
  LinkOptions of_links = LinkOptionsOf(index, data.options);
  of_links.on_all_refused = [this](std::exception_ptr error) {
    Fail(std::move(error));
  };
  return std::make_unique<WorkerLinks>(library, *graph.lender(), data.options,
                                       WorkerList(options.workers), check.get(),
                                       counters, std::move(of_links));
}

void InputPipeline::Producer::Deliver(OpenBatch& open) {
  if (filler.is_cancelled()) {
    return;  // The stream ended before this batch; its slots may be unfilled.
  }
  if (std::exception_ptr error = Account(open)) {
    Fail(std::move(error));
    return;
  }
  open.GatherFields();
  const Clock::time_point now = Clock::now();
  Clock::rep unset = 0;
  first_batch.compare_exchange_strong(unset, (now - started).count());
  const bool last = open.plan().last;
  if (found_indexes && open.plan().next.epoch != open.plan().epoch) {
    found_indexes->Save();
  }
  counters.ready.Add(1);
  counters.TraceQueues(options.trace, now);
  // There is always room: the queue is as long as the pool.
  ready.Push({open.TakeBatch(), now});
  if (last) {
    ready.Close();
  }
}

BatchHandle InputPipeline::Producer::HandOut(ReadyBatch whole,
                                             Clock::time_point now) {
  BatchHandle batch = pool.Lend(std::move(whole.batch), options.max_lent);
  if (batch.get_deleter().pool == nullptr) {
    consumer.Copied();
  }
  counters.ready.Add(-1);
  const std::int64_t images =
      consumer.Delivered(*batch, std::exchange(waited, {}));
  counters.batch.Add(static_cast<std::int64_t>(batch->image_bytes().size()),
                     Clock::duration::zero(), now - whole.since, images);
  counters.TraceQueues(options.trace, now);
  ++taken;
  return batch;
}

void InputPipeline::Producer::Stop() {
  stopped = true;
  ready.Cancel();
  filler.Cancel();
  pool.Close();
}

InputPipeline::InputPipeline(const RecordIndex& index,
                             const InputOptions& options,
                             const StreamPosition& start,
                             std::uint64_t fingerprint)
    : producer_(std::make_unique<Producer>(index, options, start)),
      position_(producer_->sequence.position()),
      fingerprint_(fingerprint) {}

InputPipeline::InputPipeline(std::shared_ptr<const RecordIndex> index,
                             const InputOptions& options,
                             const StreamPosition& start,
                             std::uint64_t fingerprint)
    : index_(std::move(index)), fingerprint_(fingerprint) {
  Check(index_ != nullptr, "the pipeline has an index");
  producer_ = std::make_unique<Producer>(*index_, options, start);
  position_ = producer_->sequence.position();
}

InputPipeline::~InputPipeline() {
  if (!producer_->process.IsCurrent()) {
    // Its threads are not here, so joining them, or destroying what they wait
    // for, would never end.
    (void)producer_.release();
  }
}

void InputPipeline::CheckProcess() const {
  if (!producer_->process.IsCurrent()) {
    throw UsageError(
        "this pipeline was made before fork(), and its threads are not in the "
        "child: make a pipeline in the child");
  }
}

BatchHandle InputPipeline::Next() { return NextUntil(kNoDeadline).value(); }

std::optional<BatchHandle> InputPipeline::NextUntil(
    Clock::time_point deadline) {
  CheckProcess();
  Producer& from = *producer_;
  if (from.stopped) {
    return BatchHandle();
  }
  const Clock::time_point start = Clock::now();
  from.consumer.Requested(start);
  if (from.is_basic()) {
    (void)from.TryPutNext();
  }
  std::optional<std::optional<ReadyBatch>> ready;
  try {
    ready = from.ready.PopUntil(deadline);
  } catch (...) {
    from.consumer.Ended(Clock::now());
    throw;
  }
  const Clock::time_point end = Clock::now();
  if (ready && !*ready) {
    from.consumer.Ended(end);
    return BatchHandle();
  }
  from.waited += end - start;
  TraceSpan(from.options.trace, "batch", start, end,
            {.epoch = position_.epoch,
             .position = position_.position,
             .batch = from.taken});
  if (!ready) {
    return std::nullopt;
  }
  BatchHandle batch = from.HandOut(std::move(**ready), end);
  position_ = batch->next;
  fingerprint_ += batch->fingerprint();
  batch->fed = fingerprint_;
  return batch;
}

BatchHandle InputPipeline::BatchAt(std::uint32_t epoch, std::int64_t number) {
  return lookup().At(epoch, number, producer_->sequence.position());
}

BatchLookup& InputPipeline::lookup() {
  CheckProcess();
  const std::scoped_lock lock(producer_->lookup_mutex);
  if (!producer_->lookup) {
    producer_->lookup =
        std::make_unique<BatchLookup>(producer_->index, producer_->options);
  }
  return *producer_->lookup;
}

void InputPipeline::Stop() {
  if (producer_->process.IsCurrent()) {
    producer_->Stop();
  }
}

bool InputPipeline::all_lent() const {
  return producer_->pool.lent() == producer_->options.batches_in_pool;
}

std::string InputPipeline::State() const {
  return BuildStreamState(
      StateOf(producer_->index, producer_->options, position_, fingerprint_));
}

const MemoryPlan& InputPipeline::memory() const {
  return producer_->data.memory;
}

std::int64_t InputPipeline::memory_bytes() const { return memory().total(); }

std::vector<std::shared_ptr<const PageMemory>> InputPipeline::batch_memory()
    const {
  return producer_->pool.memory();
}

std::int64_t InputPipeline::batches_per_epoch() const {
  return producer_->sequence.batches_per_epoch();
}

std::int64_t InputPipeline::epoch_samples() const {
  return producer_->sequence.epoch_samples();
}

PipelineStats InputPipeline::stats() const {
  CheckProcess();
  const Producer& from = *producer_;
  PipelineStats stats;
  from.consumer.Read(stats);
  const Clock::duration first(from.first_batch.load(std::memory_order_relaxed));
  stats.first_batch_seconds = ToSeconds(first);
  stats.threads = from.is_basic() ? 1 : from.options.threads;
  stats.cores = static_cast<int>(std::thread::hardware_concurrency());
  stats.overlapped = !from.is_basic();
  stats.memory_bytes = from.data.memory.total();
  stats.storage_bytes = StorageBytesRead() - from.storage_bytes_before;
  stats.bad_record_totals = from.ledger.totals();
  stats.bad_records = stats.bad_record_totals.met();
  stats.first_bad_record = stats.bad_record_totals.first;
  stats.cache = from.cache.stats();
  stats.seek_indexes = from.filler.seek_indexes();
  if (from.found_indexes) {
    stats.seek_indexes.write_error = from.found_indexes->write_error();
  }
  stats.of_image_files = from.index.is_of_images();
  stats.has_images = from.options.layout != BatchContent::kNone;
  stats.outside_pixels =
      from.counters.outside_pixels.load(std::memory_order_relaxed);
  stats.cut_lists = from.counters.cut_lists.load(std::memory_order_relaxed);
  if (from.links) {
    stats.workers = from.links->stats();
  }
  stats.stages = from.counters.Read();
  stats.queues = from.counters.ReadQueues();
  stats.queues.push_back(
      {"free", from.pool.free(), from.options.batches_in_pool});
  return stats;
}

}  // namespace infeed
