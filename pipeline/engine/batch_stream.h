#pragma once

#include <cstdint>

#include "pipeline/memory/batch.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// A stream of batches: an InputPipeline, or what stands in for one. Next() and
// position() from one thread at a time, the rest from any.
class BatchStream {
 public:
  BatchStream() = default;
  virtual ~BatchStream() = default;
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // Waits for the next batch. Returns nullptr at the end of the stream.
  [[nodiscard]] virtual BatchHandle Next() = 0;

  // Ends the stream and wakes a Next() that waits in another thread.
  virtual void Stop() = 0;

  // The position after the last batch that Next() returned.
  [[nodiscard]] virtual StreamPosition position() const = 0;

  [[nodiscard]] virtual PipelineStats stats() const = 0;

  // The memory that it may use.
  [[nodiscard]] virtual std::int64_t memory_bytes() const = 0;
};

}  // namespace infeed
