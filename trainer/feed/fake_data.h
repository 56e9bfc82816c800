#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/memory/batch.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/options/options.h"

// Fake data, in place of the reference driver's zeros: an endless stream of one
// batch of random pixels and labels that costs nothing to read, so that a run
// measures only its device. Arithmetic on zeros would take less power, and so
// run faster, than a training's.
namespace infeed {

// Whether --data_dir selects fake data: "null", or "".
[[nodiscard]] bool IsFakeData(std::string_view data_dir);

// A stream of fake batches: endless in training, else enough for max_records
// images. Image i of the batch of all ranks is drawn from (seed, i), stream
// kMadeData: its label, then its pixels.
//
// Owns as many batches as batches_in_pool says, filled once. The constructor
// throws UsageError for batches that do not fit in memory_limit.
class FakeData final : public BatchStream {
 public:
  explicit FakeData(const InputOptions& options,
                    const StreamPosition& start = {});

  [[nodiscard]] BatchHandle Next() override;
  void Stop() override { pool_.Close(); }
  [[nodiscard]] StreamPosition position() const override { return position_; }
  // Counts only: there are no stages.
  [[nodiscard]] PipelineStats stats() const override;
  [[nodiscard]] std::int64_t memory_bytes() const override {
    return memory_bytes_;
  }

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
