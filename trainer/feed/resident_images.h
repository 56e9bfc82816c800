#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/recipe.h"
#include "records/store/record_index.h"

namespace infeed {

// The number of images that a device holds, and their size.
struct ResidentShape {
  std::int64_t images = 0;
  ImageSize image_size = 0;

  // Bytes of the packed pixels and labels.
  [[nodiscard]] std::int64_t bytes() const {
    return images * static_cast<std::int64_t>(4 * image_size.pixels() + 4);
  }
};

// The shape of the images that a training run with these options uses. Throws
// UsageError for more images than a choice can index.
[[nodiscard]] ResidentShape ComputeResidentShape(const RecordIndex& index,
                                                 const InputOptions& options);

// HashRecord() of each image that a device holds, in the order of the records;
// null: the images are read from the records.
using HeldRecords = std::shared_ptr<const std::vector<std::uint64_t>>;

// Passes all these images, packed and not mirrored, to `take`, in batches in
// the order of the records; the last batch is padded. Throws UsageError for a
// record without packed pixels, DataError for one that cannot be read, and what
// InputPipeline and take throw.
[[nodiscard]] HeldRecords ReadResidentImages(
    const RecordIndex& index, const InputOptions& options,
    const std::function<void(const Batch&)>& take);

// Images in the host's memory, for a device that is the CPU. One thread at a
// time; Gather() from any thread.
class ResidentImages {
 public:
  explicit ResidentImages(const ResidentShape& shape);

  // Adds the next batch of images; slots beyond the last image are left out.
  void Append(const Batch& batch);

  // Fills `to` with the images that `choices`, a batch of the same size,
  // selects. Requires: all images were appended.
  void Gather(const Batch& choices, Batch& to) const;

 private:
  void GatherSlot(std::uint32_t choice, int slot, Batch& to) const;

  ResidentShape shape_;
  std::vector<std::uint32_t> pixels_;  // [images, height, width]
  std::vector<std::int32_t> labels_;   // [images]
};

// The batches of an InputPipeline on packed images, as choices among the images
// of the index in the order of the records. Records, mirrors, padding, stream
// positions and fingerprints are the same, but nothing is read.
//
// The index is not used after the constructor, which throws as InputPipeline's
// does, and as CheckResident().
class ResidentOrder final : public BatchStream {
 public:
  // held: what ReadResidentImages() returned; null: fingerprints are 0.
  ResidentOrder(const RecordIndex& index, const InputOptions& options,
                const StreamPosition& start = {}, HeldRecords held = nullptr);

  [[nodiscard]] BatchHandle Next() override;
  void Stop() override { stopped_ = true; }
  [[nodiscard]] StreamPosition position() const override {
    return sequence_.position();
  }
  // Counts only: there are no stages.
  [[nodiscard]] PipelineStats stats() const override;
  [[nodiscard]] std::int64_t memory_bytes() const override { return 0; }

 private:
  // Whether a sample is mirrored.
  [[nodiscard]] bool IsMirrored(const SamplePlace& sample) const;
  [[nodiscard]] std::uint64_t FingerprintOf(const SamplePlace& sample,
                                            std::int64_t record) const;

  const InputOptions options_;
  const HeldRecords held_;
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
