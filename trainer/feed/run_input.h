#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/engine/input_pipeline.h"
#include "trainer/feed/fake_data.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/resident_order.h"

namespace infeed {

// Where the images of a run are: in records, or on the device.
enum class ImagePlace { kRecords, kDevice };

// The source of batches of a training run or an evaluation, whichever it is:
// the input engine on the records of a split, only its order where the device
// has the images, or fake data.
//
// The index must outlive it. batches() is for one thread at a time, the rest
// for any. The constructor throws what the source's constructor throws.
class RunInput {
 public:
  // index: null for fake data.
  RunInput(const RecordIndex* index, const InputOptions& options,
           const StreamPosition& start = {},
           ImagePlace place = ImagePlace::kRecords);

  // For an infeed; this must outlive it.
  [[nodiscard]] BatchSource batches();
  [[nodiscard]] PipelineStats stats() const;
  // Of the records; fake data have no epochs: 0.
  [[nodiscard]] std::int64_t batches_per_epoch() const;
  // The memory that it may use, in bytes.
  [[nodiscard]] std::int64_t memory_bytes() const;

 private:
  TraceLog* trace_;
  std::optional<InputPipeline> pipeline_;
  std::optional<ResidentOrder> order_;
  std::optional<FakeData> fake_;
};

}  // namespace infeed
