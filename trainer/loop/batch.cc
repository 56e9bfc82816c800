#include "trainer/loop/batch.h"

#include <array>
#include <bit>
#include <span>

#include "base/error.h"
#include "trainer/model/normalization.h"

namespace infeed {
namespace {

static_assert(std::endian::native == std::endian::little,
              "packed pixels are taken apart as bytes");

// A view of the batch's memory. LibTorch has no const tensors; this one is
// only read.
template <typename T>
torch::Tensor View(std::span<const T> data, at::IntArrayRef shape,
                   torch::ScalarType type) {
  return torch::from_blob(const_cast<T*>(data.data()), shape, type);
}

torch::Tensor ChannelConstants(const std::array<float, 3>& values) {
  return torch::tensor(at::ArrayRef<float>(values)).reshape({3, 1, 1});
}

}  // namespace

BatchUnpacker::BatchUnpacker(const torch::Device& device,
                             Normalization normalization)
    : device_(device) {
  const PixelStatistics& statistics = StatisticsOf(normalization);
  if (normalization != Normalization::kUnit) {
    mean_ = ChannelConstants(statistics.mean).to(device);
  }
  std_ = ChannelConstants(statistics.std).to(device);
}

std::function<void(const Batch&)> BatchUnpacker::Hold(
    const ResidentShape& shape) {
  held_ = std::make_shared<ResidentImages>(shape);
  return [held = held_](const Batch& batch) { held->Append(batch); };
}

DeviceBatch BatchUnpacker::UnpackChosen(const Batch& choices) const {
  Check(held_ != nullptr, "a batch of choices needs images on the device");
  Batch images({.size = choices.size(), .image_size = choices.image_size()});
  held_->Gather(choices, images);
  return Unpack(images);
}

DeviceBatch BatchUnpacker::Unpack(const Batch& batch) const {
  if (batch.content() == BatchContent::kChoices) {
    return UnpackChosen(batch);
  }
  const std::int64_t size = batch.size();
  const auto [height, width] = batch.image_size();
  // [N, H, W, bytes of a pixel]: 0, blue, green, red.
  const torch::Tensor bytes =
      View(batch.pixels(), {size, height, width, 4}, torch::kByte).to(device_);
  // Reversed and without the first byte, each pixel's bytes are its channels:
  // this gives channels_last order without another copy.
  torch::Tensor images =
      bytes.narrow(3, 1, 3).flip({3}).to(torch::kFloat).permute({0, 3, 1, 2});
  if (mean_.defined()) {
    images.sub_(mean_);
  }
  return {
      .images = images.div_(std_),
      .labels =
          View(batch.labels(), {size}, torch::kInt).to(device_, torch::kLong),
      .weights = View(batch.weights(), {size}, torch::kFloat)
                     .to(device_, torch::kFloat, /*non_blocking=*/false,
                         /*copy=*/true)};
}

}  // namespace infeed
