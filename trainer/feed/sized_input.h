#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "pipeline/order/epoch_batches.h"
#include "preprocess/pixels/image_size.h"
#include "trainer/feed/run_input.h"
#include "trainer/model/image_size_schedule.h"

namespace infeed {

// Throws what SizedInput's constructor would throw for its options and start,
// but begins no input. checks_memory: whether images of each size must fit into
// memory_limit, as they must unless records are held.
void CheckSizedInput(const RecordIndex* index, const InputOptions& options,
                     const ImageSizeSchedule& sizes,
                     const StreamPosition& start, bool checks_memory);

// The input of a training run whose image size changes: at the epoch of a
// change the current input ends, and another begins at the same stream
// position. Batches depend only on the position, so a resumed run gets the same
// ones.
//
// Only one input exists at a time. The constructor throws as OpenInput() does,
// also for later sizes, and UsageError for fake data, which has no
// epochs.
class SizedInput final : public BatchStream {
 public:
  // index: null for fake data. The options' image_size is not used.
  SizedInput(const RecordIndex* index, const InputOptions& options,
             const ImageSizeSchedule& sizes, const StreamPosition& start = {},
             HeldRecords held = nullptr);

  [[nodiscard]] BatchHandle Next() override;
  void Stop() override;
  [[nodiscard]] StreamPosition position() const override { return position_; }

  [[nodiscard]] const ImageSize& SizeAt(const StreamPosition& position) const {
    return sizes_.SizeAt(position.epoch);
  }
  // How many batches from a position on have the same image size: that of the
  // epoch in which they begin.
  [[nodiscard]] std::int64_t BatchesOfSameSize(
      const StreamPosition& position) const;

  // Counts cover all inputs so far, the rest only the current one.
  [[nodiscard]] PipelineStats stats() const override;
  [[nodiscard]] std::int64_t memory_bytes() const override;

 private:
  // The current input, and the counts of those before it.
  struct Part {
    std::optional<PipelineStats> before;
    std::unique_ptr<BatchStream> input;  // null between two inputs
  };

  void Begin(std::optional<PipelineStats> before);
  [[nodiscard]] std::shared_ptr<Part> part() const {
    const std::lock_guard lock(mutex_);
    return part_;
  }
  void set_part(std::shared_ptr<Part> next);

  const RecordIndex* index_;
  InputOptions options_;  // image_size is that of the current input
  ImageSizeSchedule sizes_;
  HeldRecords held_;
  StreamPosition position_;  // of the next batch
  EpochBatches epochs_;      // unused with fake data
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;  // of part_
  std::shared_ptr<Part> part_;
};

}  // namespace infeed
