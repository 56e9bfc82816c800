#include "trainer/cuda/slots.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>

#include "trainer/launch/image_tensors.h"
#include "trainer/loop/device.h"

namespace infeed {
namespace {

template <typename T>
void CopyTo(const torch::Tensor& to, std::span<const T> from,
            const c10::cuda::CUDAStream& stream) {
  C10_CUDA_CHECK(cudaMemcpyAsync(to.data_ptr(), from.data(), from.size_bytes(),
                                 cudaMemcpyHostToDevice, stream.stream()));
}

}  // namespace

CudaSlots::CudaSlots(const BatchShape& shape, int slots,
                     const c10::cuda::CUDAStream& compute)
    : shape_(shape),
      slots_(static_cast<std::size_t>(slots)),
      compute_(compute),
      copy_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false,
                                         compute.device_index())) {
  const auto options = torch::device(compute.device()).dtype(torch::kInt);
  for (Slot& slot : slots_) {
    slot.pixels = torch::empty(
        {shape.size, shape.image_size.height, shape.image_size.width}, options);
    slot.labels = torch::empty({shape.size}, options);
    slot.weights = torch::empty({shape.size}, options.dtype(torch::kFloat));
  }
  // The allocator may have reused memory that work in the computing stream
  // still uses.
  copied_.record(compute_);
  copied_.block(copy_);
}

void CudaSlots::CopyAfterUse(int slot) {
  slots_[static_cast<std::size_t>(slot)].used.block(copy_);
}

void CudaSlots::Copy(int slot, const Batch& batch) {
  const Slot& to = slots_[static_cast<std::size_t>(slot)];
  CopyTo(to.pixels, batch.pixels(), copy_);
  CopyTo(to.labels, batch.labels(), copy_);
  CopyTo(to.weights, batch.weights(), copy_);
}

// An event: CUDA calls no host functions once the GPU has failed.
std::function<void()> CudaSlots::MarkCopied() {
  const auto copied = std::make_shared<at::cuda::CUDAEvent>(
      cudaEventDisableTiming | cudaEventBlockingSync);
  copied->record(copy_);
  return [copied] { copied->synchronize(); };
}

void CudaSlots::ComputeAfterCopy() {
  copied_.record(copy_);
  copied_.block(compute_);
}

void CudaSlots::MarkUsed(int slot) {
  slots_[static_cast<std::size_t>(slot)].used.record(compute_);
}

void CudaSlots::Finish() noexcept {
  C10_CUDA_CHECK_WARN(cudaStreamSynchronize(copy_.stream()));
}

PackedImages CudaSlots::Packed(int slot) const {
  const Slot& from = slots_[static_cast<std::size_t>(slot)];
  return {.pixels = reinterpret_cast<const std::uint32_t*>(
              from.pixels.data_ptr<int>()),
          .labels = from.labels.data_ptr<std::int32_t>(),
          .weights = from.weights.data_ptr<float>()};
}

BatchShape ShapeOf(const Batch& batch) {
  return {.size = batch.size(), .image_size = batch.image_size()};
}

DeviceBatch UnpackOnDevice(const PackedImages& from, const BatchShape& shape,
                           const PixelStatistics& statistics,
                           const UnpackedForm& form) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  const auto options = torch::device(stream.device());
  const auto [height, width] = shape.image_size;
  const std::vector<std::int64_t> sizes =
      form.space_to_depth
          ? std::vector<std::int64_t>{shape.size, height / 2 + kMoreSquares,
                                      width / 2 + kMoreSquares,
                                      4 * kImageChannels}
          : std::vector<std::int64_t>{shape.size, height, width,
                                      kImageChannels};
  const torch::Tensor images =
      torch::empty(sizes, options.dtype(ScalarTypeOf(form.precision)));
  DeviceBatch batch = {
      .images = images.permute({0, 3, 1, 2}),
      .labels = torch::empty({shape.size}, options.dtype(torch::kLong)),
      .weights = torch::empty({shape.size}, options.dtype(torch::kFloat))};
  const UnpackedImages to = {.pixels = images.data_ptr(),
                             .labels = batch.labels.data_ptr<std::int64_t>(),
                             .weights = batch.weights.data_ptr<float>(),
                             .space_to_depth = form.space_to_depth};
  LaunchUnpack(from, shape.size, shape.image_size, statistics,
               ImageTypeOf(images), to, stream.stream());
  return batch;
}

}  // namespace infeed
