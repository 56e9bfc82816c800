#pragma once

#include <functional>
#include <memory>

#include <torch/types.h>

#include "pipeline/memory/batch.h"
#include "trainer/feed/resident_images.h"
#include "trainer/loop/device_loop.h"

namespace infeed {

// A batch on the device, as the model's input.
struct DeviceBatch {
  // [N, 3, H, W], channels_last, normalised. float32; on a GPU it may be
  // bfloat16, and there is a fourth channel of zeros.
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

}  // namespace infeed
