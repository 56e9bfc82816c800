#pragma once

#include <functional>
#include <vector>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include "pipeline/memory/batch.h"
#include "preprocess/pixels/image_size.h"
#include "trainer/feed/upload_ring.h"
#include "trainer/kernels/kernels.h"
#include "trainer/loop/batch.h"
#include "trainer/model/options.h"

namespace infeed {

// The shape of batches for which a graph is captured.
struct BatchShape {
  int size = 0;
  ImageSize image_size = 0;

  friend bool operator==(const BatchShape&, const BatchShape&) = default;
};

[[nodiscard]] BatchShape ShapeOf(const Batch& batch);

// How a batch's images are unpacked.
struct UnpackedForm {
  Precision precision = Precision::kFloat32;  // their type
  bool space_to_depth = false;                // Requires: both sides are even
};

// Unpacks a batch in the current stream into new tensors.
[[nodiscard]] DeviceBatch UnpackOnDevice(const PackedImages& from,
                                         const BatchShape& shape,
                                         const PixelStatistics& statistics,
                                         const UnpackedForm& form);

// Slots for batches in a GPU's memory, in the same layout as in the host's, and
// a copy stream beside the one that computes.
class CudaSlots final : public UploadStreams {
 public:
  CudaSlots(const BatchShape& shape, int slots,
            const c10::cuda::CUDAStream& compute);

  void CopyAfterUse(int slot) override;
  void Copy(int slot, const Batch& batch) override;
  [[nodiscard]] std::function<void()> MarkCopied() override;
  void ComputeAfterCopy() override;
  void MarkUsed(int slot) override;
  void Finish() noexcept override;

  // A slot's packed batch.
  [[nodiscard]] PackedImages Packed(int slot) const;

  [[nodiscard]] const BatchShape& shape() const { return shape_; }

 private:
  struct Slot {
    torch::Tensor pixels;   // int32 [N, H, W]
    torch::Tensor labels;   // int32 [N]
    torch::Tensor weights;  // float32 [N]
    at::cuda::CUDAEvent used = {};
  };
  // The slots stay at fixed addresses, which graphs use.
  BatchShape shape_;
  std::vector<Slot> slots_;
  c10::cuda::CUDAStream compute_;
  c10::cuda::CUDAStream copy_;
  at::cuda::CUDAEvent copied_;
};

}  // namespace infeed
