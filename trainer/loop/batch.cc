#include "trainer/loop/batch.h"

#include <array>
#include <bit>
#include <span>

#include <ATen/ATen.h>

#include "base/error.h"
#include "trainer/model/normalization.h"
#include "trainer/network/loss.h"

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

constexpr std::int64_t kNumbers = sizeof(Mix) / sizeof(float);
static_assert(kNumbers == 7);

// The index of each slot's partner.
torch::Tensor Partners(const torch::Tensor& labels) {
  return torch::arange(labels.size(0), labels.options())
      .bitwise_xor_(1)
      .clamp_max_(labels.size(0) - 1);
}

// The image's own share of each pixel, [H, W].
torch::Tensor PixelShares(const torch::Tensor& mix, std::int64_t height,
                          std::int64_t width) {
  const torch::Tensor x = torch::arange(width, mix.options());
  const torch::Tensor y = torch::arange(height, mix.options()).unsqueeze(1);
  const torch::Tensor in_box = x.ge(mix[2])
                                   .logical_and(x.lt(mix[4]))
                                   .logical_and(y.ge(mix[3]))
                                   .logical_and(y.lt(mix[5]));
  return torch::where(in_box, mix[1], mix[0]);
}

// [N, 3, H, W] in channels_last order is dense as [N, H, W, 3], and so is the
// selection.
torch::Tensor Pick(const torch::Tensor& images, const torch::Tensor& slots) {
  return images.permute({0, 2, 3, 1})
      .index_select(0, slots)
      .permute({0, 3, 1, 2});
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

torch::Tensor UploadMixes(std::int64_t first_step, std::int64_t steps,
                          const ImageSize& image_size,
                          const MixOptions& options,
                          const torch::Device& device) {
  torch::Tensor mixes = torch::empty({steps, kNumbers}, torch::kFloat);
  auto* row = mixes.data_ptr<float>();
  for (std::int64_t i = 0; i < steps; ++i) {
    const Mix mix = DrawMix(first_step + i, image_size, options);
    for (const float number : {mix.outside, mix.inside, mix.left, mix.top,
                               mix.right, mix.bottom, mix.label_share}) {
      *row++ = number;
    }
  }
  return mixes.to(device);
}

TrainBatch Mixed(TrainBatch batch, const torch::Tensor& mix) {
  const torch::Tensor partners = Partners(batch.labels);
  const torch::Tensor both =
      batch.counted.mul(batch.counted.index_select(0, partners)).ne(0);
  const torch::Tensor one = torch::ones({}, mix.options());
  const torch::Tensor pixels = torch::where(
      both.reshape({-1, 1, 1, 1}),
      PixelShares(mix, batch.images.size(2), batch.images.size(3)), one);
  batch.images = torch::lerp(Pick(batch.images, partners), batch.images, pixels)
                     .contiguous(at::MemoryFormat::ChannelsLast);
  batch.partner_labels = batch.labels.index_select(0, partners);
  batch.label_share = torch::where(both, mix[6], one);
  return batch;
}

TrainBatch PartOf(const TrainBatch& batch, std::int64_t begin,
                  std::int64_t length) {
  const auto part = [&](const torch::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, begin, length) : tensor;
  };
  return {.images = part(batch.images),
          .labels = part(batch.labels),
          .counted = part(batch.counted),
          .partner_labels = part(batch.partner_labels),
          .label_share = part(batch.label_share)};
}

torch::Tensor InTop1Of(const torch::Tensor& logits, const TrainBatch& batch) {
  return InTop1(logits, batch.partner_labels.defined()
                            ? torch::where(batch.label_share.ge(0.5),
                                           batch.labels, batch.partner_labels)
                            : batch.labels);
}

}  // namespace infeed
