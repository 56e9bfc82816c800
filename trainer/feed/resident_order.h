#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "preprocess/recipe/recipe.h"
#include "records/store/record_index.h"

namespace infeed {

// The batches of an InputPipeline on packed images, as choices among the images
// of the index in the order of the records. Records, mirrors, padding and
// stream positions are the same, but nothing is read.
//
// The index is not used after the constructor, which throws as InputPipeline's
// does, and as CheckResident().
class ResidentOrder final : public BatchStream {
 public:
  ResidentOrder(const RecordIndex& index, const InputOptions& options,
                const StreamPosition& start = {});

  [[nodiscard]] BatchHandle Next() override;
  void Stop() override { stopped_ = true; }
  [[nodiscard]] StreamPosition position() const override {
    return sequence_.position();
  }
  // Counts only: there are no stages.
  [[nodiscard]] PipelineStats stats() const override;
  [[nodiscard]] std::int64_t memory_bytes() const override { return 0; }
  [[nodiscard]] std::int64_t batches_per_epoch() const override {
    return sequence_.batches_per_epoch();
  }

 private:
  [[nodiscard]] std::uint32_t ChoiceOf(std::uint32_t epoch,
                                       std::int64_t position,
                                       std::int64_t record) const;

  const InputOptions options_;
  const PreprocessOptions preprocess_;
  const SampleOrder order_;
  BatchSequence sequence_;
  CurrentEpoch epoch_;
  std::atomic<std::int64_t> batches_{0};
  std::atomic<std::int64_t> images_{0};
  std::atomic<bool> stopped_{false};
};

// Throws UsageError for options with random transformations other than
// mirroring: a record's image would then differ from draw to draw.
void CheckResident(const InputOptions& options);

}  // namespace infeed
