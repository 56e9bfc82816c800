#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "records/store/record_index.h"

namespace infeed {

// The number of images that a device holds, and their side in pixels.
struct ResidentShape {
  std::int64_t images = 0;
  int side = 0;

  // Bytes of the packed pixels and labels.
  [[nodiscard]] std::int64_t bytes() const {
    return images * (std::int64_t{4} * side * side + 4);
  }
};

// The shape of the images that a training run with these options uses. Throws
// UsageError for more images than a choice can index.
[[nodiscard]] ResidentShape ResidentShapeOf(const RecordIndex& index,
                                            const InputOptions& options);

// Passes all these images, packed and not mirrored, to `take`, in batches in
// the order of the records; the last batch is padded. Throws UsageError for a
// record without packed pixels, DataError for one that cannot be read, and what
// InputPipeline and take throw.
void ReadResidentImages(const RecordIndex& index, const InputOptions& options,
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
  std::vector<std::uint32_t> pixels_;  // [images, side, side]
  std::vector<std::int32_t> labels_;   // [images]
};

}  // namespace infeed
