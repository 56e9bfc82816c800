#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "trainer/feed/infeed.h"
#include "trainer/feed/run_input.h"
#include "trainer/model/image_size_schedule.h"

namespace infeed {

// The input of a training run whose image size changes: at the epoch of a
// change the current input ends, and another begins at the same stream
// position. Batches depend only on the position, so a resumed run gets the same
// ones.
//
// Only one input exists at a time. batches() is for an infeed, which calls
// next() from one thread; the rest from any. The constructor throws as
// RunInput's does, also for the largest size, and UsageError for fake data,
// which have no epochs.
class SizedInput {
 public:
  // index: null for fake data. options.image_size is not used.
  SizedInput(const RecordIndex* index, const InputOptions& options,
             const ImageSizeSchedule& sizes, const StreamPosition& start = {},
             ImagePlace place = ImagePlace::kRecords);

  // This must outlive the infeed.
  [[nodiscard]] BatchSource batches();

  // The image size of the batch at a position.
  [[nodiscard]] int SizeAt(const StreamPosition& position) const {
    return sizes_.SizeAt(position.epoch);
  }
  // How many batches from a position on have the same image size.
  [[nodiscard]] std::int64_t BatchesOfSameSize(
      const StreamPosition& position) const;

  // Counts cover all inputs so far, the rest only the current one.
  [[nodiscard]] PipelineStats stats() const;
  [[nodiscard]] std::int64_t memory_bytes() const;

 private:
  // The current input, and the counts of those before it.
  struct Part {
    std::optional<PipelineStats> before;
    std::optional<RunInput> input;  // absent between two inputs
  };

  [[nodiscard]] BatchHandle Next();
  void Stop();
  void Begin(std::optional<PipelineStats> before);
  [[nodiscard]] std::shared_ptr<Part> part() const;
  void set_part(std::shared_ptr<Part> next);

  const RecordIndex* index_;
  InputOptions options_;  // image_size is that of the current input
  ImageSizeSchedule sizes_;
  ImagePlace place_;
  StreamPosition position_;  // of the next batch
  std::int64_t batches_per_epoch_ = 0;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;  // of part_
  std::shared_ptr<Part> part_;
};

}  // namespace infeed
