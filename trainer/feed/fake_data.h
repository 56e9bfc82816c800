#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"
#include "pipeline/stats/stats.h"
#include "trainer/params/params.h"

// Fake data, as in the reference driver: an endless stream of black images of
// class 0 that cost nothing to read, so that a run measures only its device.
namespace infeed {

// Whether --data_dir selects fake data: "null", or "".
[[nodiscard]] bool IsFakeData(std::string_view data_dir);

// Sets the parameters that are not given: the reference's number of training
// images and classes. An evaluation always has ten batches. Throws UsageError.
void ResolveFakeData(bool on_gpu, RunParams& params);

// The stream of such batches: endless in training, else as many as hold
// max_records images.
//
// Owns as many batches as batches_in_pool says, filled once. Next() and
// position() from one thread at a time, the rest from any. The constructor
// throws UsageError for batches that do not fit in memory_limit.
class FakeData {
 public:
  explicit FakeData(const InputOptions& options,
                    const StreamPosition& start = {});

  // As in InputPipeline.
  [[nodiscard]] BatchHandle Next();
  void Stop() { pool_.Close(); }
  [[nodiscard]] StreamPosition position() const { return position_; }
  // Counts only: there are no stages.
  [[nodiscard]] PipelineStats stats() const;
  [[nodiscard]] std::int64_t memory_bytes() const { return memory_bytes_; }

 private:
  std::int64_t batch_size_;  // of all ranks
  int share_;                // of this one
  std::int64_t batches_;     // of the stream; 0: no end
  std::int64_t memory_bytes_;
  StreamPosition position_;
  std::atomic<std::int64_t> given_{0};
  BatchPool pool_;
};

}  // namespace infeed
