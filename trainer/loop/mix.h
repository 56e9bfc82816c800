#pragma once

#include <cstdint>

#include <torch/types.h>

#include "preprocess/pixels/image_size.h"
#include "trainer/loop/batch.h"
#include "trainer/model/mix_plan.h"

namespace infeed {

// A batch as the input of a training step.
struct TrainBatch {
  torch::Tensor images;   // float32 [N, 3, H, W], channels_last
  torch::Tensor labels;   // int64 [N]
  torch::Tensor counted;  // float32 [N]: 1, or 0 for a slot that is left out
  // For mixed images; undefined where images are not mixed.
  torch::Tensor partner_labels = {};  // int64 [N]
  torch::Tensor label_share = {};     // float32 [N]: of the own label
};

// The results of DrawMix() for a loop's steps, [steps, 7], on the device.
[[nodiscard]] torch::Tensor UploadMixes(std::int64_t first_step,
                                        std::int64_t steps,
                                        const ImageSize& image_size,
                                        const MixOptions& options,
                                        const torch::Device& device);

// Mixes each image with its neighbour, 0 with 1, 2 with 3 and so on, by one row
// of UploadMixes(): neighbours stay together however a batch is split among
// ranks. A slot without a neighbour, or whose neighbour does not count, is not
// mixed. Copies nothing to the host.
[[nodiscard]] TrainBatch Mixed(TrainBatch batch, const torch::Tensor& mix);

// Slots [begin, begin + length) of a batch.
[[nodiscard]] TrainBatch PartOf(const TrainBatch& batch, std::int64_t begin,
                                std::int64_t length);

// 1 where the label with the larger share has the highest logit, else 0; float
// [N].
[[nodiscard]] torch::Tensor InTop1Of(const torch::Tensor& logits,
                                     const TrainBatch& batch);

}  // namespace infeed
