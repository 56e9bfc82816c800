#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/stats/stats.h"
#include "records/store/record_index.h"

namespace infeed {

// The engine: a stream of batches from indexed TFRecord shards.
//
//   sample order ► read ► decode · crop ► resize · flip · pack ► batch ► Next()
//
// One oneTBB flow graph does the work in its own threads; batches come out in
// order, the same bytes for the same (data, seed, options) whatever the number
// of threads. It holds at most options.batches_in_pool batches, those on loan
// to the caller included: a caller that keeps handles stops the stream.
//
// The index must outlive the pipeline; handles may outlive it. Next(),
// position() and State() from one thread at a time; Stop(), stats() and the
// rest from any.
// The constructor throws UsageError naming the option that is wrong, for an
// empty data set, an epoch without a batch, a selection or an order that the
// data cannot give, a start that is not the beginning of a batch, and a memory
// limit that is too small; without a label_offset also what FindLabelOffset()
// throws.
class InputPipeline {
 public:
  InputPipeline(const RecordIndex& index, const InputOptions& options,
                const StreamPosition& start = {});
  ~InputPipeline();  // Stops.

  InputPipeline(const InputPipeline&) = delete;
  InputPipeline& operator=(const InputPipeline&) = delete;

  // Waits for the next batch. Its size is the rank's share: batch_size /
  // world_size. nullptr is the end of the last epoch (options.repeat), and
  // after Stop(). Throws what a stage threw (DataError, IoError) after the last
  // batch before it; the stream is over then.
  [[nodiscard]] BatchHandle Next();

  // Ends the stream: wakes a Next() that waits in another thread.
  void Stop();

  // Where the stream goes on after the last batch that Next() returned.
  [[nodiscard]] StreamPosition position() const;

  // The same for a file, with what the stream is (stream_state.h): a pipeline
  // that starts at ResumePosition() of this text goes on with it.
  [[nodiscard]] std::string State() const;

  [[nodiscard]] PipelineStats stats() const;

  // How memory_limit is shared out, and the sum of it.
  [[nodiscard]] const MemoryPlan& memory() const;
  [[nodiscard]] std::int64_t memory_bytes() const { return memory().total(); }

  // Batches of one epoch: a last one that is a part counts unless it is dropped
  // (options.last_batch).
  [[nodiscard]] std::int64_t batches_per_epoch() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace infeed
