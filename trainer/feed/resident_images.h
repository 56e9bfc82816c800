#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "records/store/record_index.h"

namespace infeed {

// How many images a device is to hold, and of which side, pixels.
struct ResidentShape {
  std::int64_t images = 0;
  int side = 0;

  // Of packed pixels and labels.
  [[nodiscard]] std::int64_t bytes() const {
    return images * (std::int64_t{4} * side * side + 4);
  }
};

// Of the images that a training with these options goes through. Throws
// UsageError for more than can be told apart.
[[nodiscard]] ResidentShape ResidentShapeOf(const RecordIndex& index,
                                            const InputOptions& options);

// Hands out all of them, packed and not mirrored, in batches one after the
// other in the records' own order; the last one is padded. Throws UsageError
// for a record without packed pixels, DataError for one that cannot be read,
// and what InputPipeline and take throw.
void ReadResidentImages(const RecordIndex& index, const InputOptions& options,
                        const std::function<void(const Batch&)>& take);

// Images in the host's memory, for a device that is the host. One thread at a
// time; Gather() from any.
class ResidentImages {
 public:
  explicit ResidentImages(const ResidentShape& shape);

  // Of the batch of images that comes next; what is beyond the last one is left
  // out.
  void Append(const Batch& batch);

  // Fills a batch with what another, of the same size, chooses. Requires: all
  // images were appended.
  void Gather(const Batch& choices, Batch& to) const;

 private:
  void GatherSlot(std::uint32_t choice, int slot, Batch& to) const;

  ResidentShape shape_;
  std::vector<std::uint32_t> pixels_;  // [images, side, side]
  std::vector<std::int32_t> labels_;   // [images]
};

}  // namespace infeed
