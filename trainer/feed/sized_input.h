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

// The input of a training whose image size changes: at the epoch where it does,
// the input ends and another begins at the same place of the stream. What is
// in the batches depends on the place alone, so a resumed run sees the same.
//
// One input lives at a time. batches() is for an infeed, which calls next()
// from one thread; the rest from any. The constructor throws as RunInput's
// does, for the largest size too, and UsageError for fake data, which have no
// epochs.
class SizedInput {
 public:
  // index: null for fake data. options.image_size is not used.
  SizedInput(const RecordIndex* index, const InputOptions& options,
             const ImageSizeSchedule& sizes, const StreamPosition& start = {},
             ImagePlace place = ImagePlace::kRecords);

  // This must outlive the infeed.
  [[nodiscard]] BatchSource batches();

  // Of the batch at a place.
  [[nodiscard]] int SizeAt(const StreamPosition& position) const {
    return sizes_.SizeAt(position.epoch);
  }
  // How many batches from a place on have the same size.
  [[nodiscard]] std::int64_t BatchesToChange(
      const StreamPosition& position) const;

  // Counts are of all inputs so far, the rest is of the one at hand.
  [[nodiscard]] PipelineStats stats() const;
  [[nodiscard]] std::int64_t memory_bytes() const;

 private:
  // The input at hand, and what those before it counted.
  struct Part {
    std::optional<PipelineStats> before;
    std::optional<RunInput> input;  // none between two of them
  };

  [[nodiscard]] BatchHandle Next();
  void Stop();
  void Begin(std::optional<PipelineStats> before);
  [[nodiscard]] std::shared_ptr<Part> part() const;
  void set_part(std::shared_ptr<Part> next);

  const RecordIndex* index_;
  InputOptions options_;  // image_size is that of the input at hand
  ImageSizeSchedule sizes_;
  ImagePlace place_;
  StreamPosition position_;  // of the next batch
  std::int64_t batches_per_epoch_ = 0;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;  // of part_
  std::shared_ptr<Part> part_;
};

}  // namespace infeed
