#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <torch/types.h>

#include "pipeline/memory/batch.h"
#include "preprocess/pixels/image_size.h"
#include "trainer/feed/resident_images.h"
#include "trainer/loop/device_loop.h"
#include "trainer/model/mix_plan.h"

namespace infeed {

// A batch on the device, as the model's input.
struct DeviceBatch {
  // [N, 3, H, W], channels_last, normalised. float32; on a GPU it may be
  // 16 bits, and there is a fourth channel of zeros; or SpaceToDepth() of that
  // (trainer/network/convolution.h).
  torch::Tensor images;
  torch::Tensor labels;   // int64 [N]
  torch::Tensor weights;  // float32 [N]
};

// Copies batches to a device and unpacks them there: each byte of a packed
// pixel is normalised as `normalization` says. Windows are resized before, on
// the host.
//
// The result of Unpack() shares no memory with the batch, which may go back to
// its pool. One thread at a time.
class BatchUnpacker {
 public:
  BatchUnpacker(const torch::Device& device, Normalization normalization);

  [[nodiscard]] DeviceBatch Unpack(const Batch& batch) const;

  // DeviceLoop::Hold() for images in the host's memory: batches of choices then
  // unpack to the chosen images.
  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape);

 private:
  [[nodiscard]] DeviceBatch UnpackChosen(const Batch& choices) const;

  torch::Device device_;
  torch::Tensor mean_;  // [3, 1, 1], red, green, blue; undefined: 0
  torch::Tensor std_;
  std::shared_ptr<ResidentImages> held_;
};

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
