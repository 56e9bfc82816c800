#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"

namespace infeed {

class BatchLookup;
class PageMemory;
struct MemoryPlan;

// The engine: a stream of batches from indexed TFRecord shards.
//
//   sample order ► read ► decode · crop ► resize · flip · pack ► batch ► Next()
//
// One oneTBB flow graph does the work in its own threads; batches come out in
// order, the same bytes for the same (data, seed, options) whatever the number
// of threads. At most options.batches_in_pool batches exist, including those on
// loan to the caller: a caller that keeps all handles stops the stream, unless
// options.max_lent makes it copy batches. Programs on other machines fill slots
// too, if there are options.workers (worker_links.h): the bytes are the same,
// and without any of them the own threads fill all slots.
//
// The index must outlive the pipeline, or is given as a shared_ptr; handles may
// outlive it. NextUntil() and State() from the thread of Next().
//
// A child of fork() has no threads to fill batches: Next(), NextUntil(),
// BatchAt() and stats() throw UsageError there, Stop() does nothing, and the
// destructor leaves the pipeline's memory as it is.
//
// The constructor throws UsageError naming the option that is wrong, for an
// empty data set, an epoch without a batch, a selection or an order that is
// impossible with the data, a start that is not the beginning of a batch, and a
// memory limit that is too small; without a label_offset also what
// FindLabelOffset() throws; with workers also what LoadedRpcLibrary(),
// LinkOptionsOf() and WorkerList throw.
class InputPipeline final : public BatchStream {
 public:
  // fingerprint: of what was fed before the start (StreamState).
  InputPipeline(const RecordIndex& index, const InputOptions& options,
                const StreamPosition& start = {},
                std::uint64_t fingerprint = 0);
  // Keeps the index while the pipeline lives. Requires: it is not null.
  InputPipeline(std::shared_ptr<const RecordIndex> index,
                const InputOptions& options, const StreamPosition& start = {},
                std::uint64_t fingerprint = 0);
  ~InputPipeline() override;  // Stops.

  // Waits for the next batch. Its size is the rank's share: batch_size /
  // world_size. Returns nullptr after the last epoch (options.repeat) and after
  // Stop(). When a stage threw (DataError, IoError), first returns the batches
  // before the failed one, then throws that error; the stream is over then. The
  // same holds if every worker that answers refuses the stream (UsageError).
  [[nodiscard]] BatchHandle Next() override;

  // Next() that waits until the deadline at most. Returns nullopt if there was
  // no batch by then; a later call returns that batch. With graph=basic the
  // batch is made in this call, however long it takes.
  [[nodiscard]] std::optional<BatchHandle> NextUntil(
      std::chrono::steady_clock::time_point deadline);

  // Returns one batch of any epoch, at once and whatever Next() has returned:
  // with the bytes that it has in this stream. It is filled in the caller's
  // thread, beside memory_limit; position, statistics and bad-record report
  // stay as they are, and a bad record counts against no budget. The first call
  // opens the data again. Thread-safe. Throws UsageError where the epoch has no
  // such batch, and what Next() would for a bad record or a failed read.
  [[nodiscard]] BatchHandle BatchAt(std::uint32_t epoch, std::int64_t number);

  // What BatchAt() uses (batch_lookup.h, for infeed's own programs).
  // Thread-safe.
  [[nodiscard]] BatchLookup& lookup();

  // Whether the caller holds all batches of the pool, so that there is no next
  // one until it destroys a handle. Thread-safe.
  [[nodiscard]] bool all_lent() const;

  void Stop() override;
  [[nodiscard]] StreamPosition position() const override { return position_; }

  // The fingerprint of what Next() returned so far (Batch::fed), of this rank's
  // slots: the same for any threads, workers and breaks.
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

  // The position, the fingerprint and the stream's identity as text for a file
  // (stream_state.h): a pipeline that starts with ResumeState() of this text
  // continues the stream.
  [[nodiscard]] std::string State() const;

  [[nodiscard]] PipelineStats stats() const override;

  // How memory_limit is divided among the pipeline's parts (memory_plan.h, for
  // infeed's own programs), and their sum.
  [[nodiscard]] const MemoryPlan& memory() const;
  [[nodiscard]] std::int64_t memory_bytes() const override;

  // The memory of the pool's batches (BatchPool::memory(), for infeed's own
  // programs). Thread-safe.
  [[nodiscard]] std::vector<std::shared_ptr<const PageMemory>> batch_memory()
      const;

  // Batches of one epoch. A partial last batch counts unless it is dropped
  // (options.last_batch).
  [[nodiscard]] std::int64_t batches_per_epoch() const;
  // Samples of one epoch in its batches, without padding.
  [[nodiscard]] std::int64_t epoch_samples() const;

 private:
  struct Producer;

  // Throws UsageError in a child of fork().
  void CheckProcess() const;

  std::shared_ptr<const RecordIndex> index_;  // null: the caller's
  std::unique_ptr<Producer> producer_;
  StreamPosition position_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace infeed
