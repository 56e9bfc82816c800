#pragma once

#include <cstdint>

#include <torch/types.h>

#include "trainer/loop/batch.h"
#include "trainer/model/mix_plan.h"

namespace infeed {

// A batch as a training step takes it.
struct TrainBatch {
  torch::Tensor images;   // float32 [N, 3, H, W], channels_last
  torch::Tensor labels;   // int64 [N]
  torch::Tensor counted;  // float32 [N]: 1, or 0 for a slot that is left out
  // Of mixed images; undefined where none is.
  torch::Tensor partner_labels = {};  // int64 [N]
  torch::Tensor label_share = {};     // float32 [N]: of the own label
};

// What MixOf() says of a loop's steps, [steps, 7], on the device.
[[nodiscard]] torch::Tensor UploadMixes(std::int64_t first_step,
                                        std::int64_t steps, int image_size,
                                        const MixOptions& options,
                                        const torch::Device& device);

// Mixes each image with its neighbour, 0 with 1, 2 with 3 and so on, by one row
// of UploadMixes(): neighbours stay together however a batch is cut into the
// parts of ranks. A slot whose neighbour does not count, or that has none,
// stays as it is. Reads nothing back.
[[nodiscard]] TrainBatch Mixed(TrainBatch batch, const torch::Tensor& mix);

// Slots [begin, begin + length) of a batch.
[[nodiscard]] TrainBatch PartOf(const TrainBatch& batch, std::int64_t begin,
                                std::int64_t length);

// Cross-entropy of each slot against the mixed target, [N].
[[nodiscard]] torch::Tensor CrossEntropyOf(const torch::Tensor& logits,
                                           const TrainBatch& batch,
                                           double smoothing);

// Where the greatest logit is of the label that weighs more; float [N].
[[nodiscard]] torch::Tensor InTop1Of(const torch::Tensor& logits,
                                     const TrainBatch& batch);

}  // namespace infeed
