#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "pipeline/bad_record_ledger.h"
#include "pipeline/batch_plan.h"
#include "pipeline/consumer_counts.h"
#include "pipeline/input_graph.h"
#include "pipeline/input_pipeline.h"
#include "pipeline/open_batch.h"
#include "pipeline/packed_reading.h"
#include "pipeline/prefetcher.h"
#include "pipeline/record_cache.h"
#include "pipeline/sample_order.h"
#include "pipeline/slot_filler.h"
#include "pipeline/storage_reads.h"
#include "pipeline/stream_state.h"
#include "pipeline/trace_log.h"
#include "records/record_store.h"
#include "records/seek_store.h"

namespace infeed {

// A whole batch on its way to the consumer.
struct ReadyBatch {
  BatchHandle batch;
  StageCounter::Clock::time_point since;
};

// What is inside an InputPipeline; for its own sources.
//
// Members are in the order of the data's way, so that destruction, which goes
// backwards, ends each thread before what it uses.
class InputPipeline::Impl {
 public:
  using Clock = StageCounter::Clock;

  Impl(const RecordIndex& index, const InputOptions& options,
       const StreamPosition& start);
  ~Impl() { Stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  BatchHandle Next();
  void Stop();
  [[nodiscard]] StreamPosition position() const { return position_; }
  [[nodiscard]] std::string State() const {
    return BuildStreamState(StateOf(index_, options_, position_));
  }
  [[nodiscard]] PipelineStats stats() const;
  [[nodiscard]] const MemoryPlan& memory() const { return memory_; }
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return batches_per_epoch_;
  }

 private:
  [[nodiscard]] bool is_basic() const {
    return options_.graph == GraphKind::kBasic;
  }
  // The driver's thread: plans batches as the pool has room for them.
  void Drive();
  // Puts one batch into the graph; false when there is none to come, or it
  // failed, which the consumer then hears.
  bool TryPutNext();
  bool PutNext();
  // A worker, batch after batch: the way out of the graph.
  void Deliver(OpenBatch& open);
  // Announces records that are not in the cache to the store.
  void WillRead(std::vector<std::int64_t>& records) const;
  // Enters a batch's bad records; returns what ends the stream, or nullptr.
  std::exception_ptr Account(OpenBatch& open);

  const RecordIndex& index_;
  const InputOptions options_;
  const SampleOrder order_;
  BatchSequence sequence_;  // the driver's, once it runs
  const std::int64_t batches_per_epoch_;
  BadRecordLedger ledger_;
  const PackedReading packed_;
  const MemoryPlan memory_;
  const RecordStore store_;
  Prefetcher prefetcher_;  // the driver's
  const SeekStore seek_store_;
  const Clock::time_point started_ = Clock::now();
  const std::int64_t storage_bytes_before_ = StorageBytesRead();
  StreamPosition position_;
  std::int64_t taken_ = 0;  // batches that Next() returned
  StageCounters counters_;
  ConsumerCounts consumer_;
  std::atomic<Clock::rep> first_batch_{0};  // since started_; 0: not yet
  std::atomic<bool> stopped_{false};

  RecordCache cache_;
  BatchPool pool_;
  BoundedQueue<ReadyBatch> ready_;
  SlotFiller filler_;
  // Those in the graph: batch i is in place i mod the size of the pool, which
  // batch i - size has left, as there are no more batches than that.
  std::vector<OpenBatch> open_;
  InputGraph graph_;
  // The driver's: the number of the next batch, and its epoch's order.
  std::int64_t number_ = 0;
  std::uint32_t epoch_;
  EpochOrder epoch_order_;
  std::jthread driver_;  // none in the basic graph: Next() drives
};

}  // namespace infeed
