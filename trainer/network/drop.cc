#include "trainer/network/drop.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include "base/random.h"

namespace infeed {
namespace {

// The rank takes the place of the epoch, which draws of a step do not use.
std::uint64_t SeedOf(std::uint64_t seed, int rank, std::int64_t step) {
  SampleRandom random({.seed = seed,
                       .epoch = static_cast<std::uint32_t>(rank),
                       .position = static_cast<std::uint64_t>(step)},
                      RandomStream::kNetwork);
  const std::uint64_t low = random.Word();
  return low | std::uint64_t{random.Word()} << 32;
}

// 1 / keep with the probability keep, else 0.
torch::Tensor KeptOrZero(at::IntArrayRef shape, double rate,
                         StepRandom& random) {
  return random.Uniform(shape).ge_(rate).div_(1 - rate);
}

}  // namespace

at::Generator MakeGenerator(const torch::Device& device, std::uint64_t seed) {
  // A copy of the device's default generator: this works on every kind of
  // device.
  at::Generator generator =
      at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  return generator;
}

StepRandom::StepRandom(std::uint64_t seed, int rank)
    : seed_(seed),
      rank_(rank),
      device_(torch::kCPU),
      generator_(MakeGenerator(device_, SeedOf(seed, rank, 0))) {}

void StepRandom::SetStep(std::int64_t step, const torch::Device& device) {
  const std::uint64_t seed = SeedOf(seed_, rank_, step);
  if (device != device_) {
    device_ = device;
    generator_ = MakeGenerator(device, seed);
  } else {
    generator_.set_current_seed(seed);
  }
}

torch::Tensor StepRandom::Uniform(at::IntArrayRef shape) {
  const auto format = shape.size() == 4 ? at::MemoryFormat::ChannelsLast
                                        : at::MemoryFormat::Contiguous;
  return at::empty(shape, at::TensorOptions(device_).dtype(torch::kFloat),
                   format)
      .uniform_(0, 1, generator_);
}

torch::Tensor Dropout(const torch::Tensor& x, double rate, StepRandom& random) {
  return x * KeptOrZero(x.sizes(), rate, random).to(x.scalar_type());
}

torch::Tensor DropConnect(const torch::Tensor& x, double rate,
                          StepRandom& random) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[0] = x.size(0);
  return x * KeptOrZero(shape, rate, random).to(x.scalar_type());
}

torch::Tensor DropBlockMask(const torch::Tensor& uniform,
                            const torch::Tensor& rate, int size) {
  const std::int64_t margin = size - 1;
  torch::Tensor dropped = at::constant_pad_nd(
      uniform.lt(rate).to(torch::kFloat), {margin, margin, margin, margin});
  // A square's maximum is the maximum of its rows' maxima.
  dropped = at::max_pool2d(dropped, {1, size}, {1, 1});
  dropped = at::max_pool2d(dropped, {size, 1}, {1, 1});
  return 1 - dropped;
}

double DropBlockShare(int group, std::int64_t height, std::int64_t width,
                      std::int64_t size) {
  const auto of_map = static_cast<double>(height * width);
  const auto of_square = static_cast<double>(size * size);
  const std::int64_t places = (height - size + 1) * (width - size + 1);
  return std::pow(4.0, group - 4) * of_map / of_square /
         static_cast<double>(places);
}

DropBlock::DropBlock(const DropBlockOptions& options)
    : options_(options), dropped_(at::zeros({})) {}

void DropBlock::SetStep(std::int64_t step, const torch::Device& device) {
  const double done =
      static_cast<double>(step) / static_cast<double>(options_.train_steps);
  dropped_ = dropped_.to(device);
  dropped_.fill_(std::min(done, 1.0) * (1 - options_.keep_prob));
}

torch::Tensor DropBlock::Multipliers(at::IntArrayRef shape, int group,
                                     StepRandom& random) const {
  const torch::NoGradGuard no_grad;
  const std::int64_t height = shape[2];
  const std::int64_t width = shape[3];
  const std::int64_t size =
      std::min({std::int64_t{options_.size}, height, width});
  torch::Tensor kept = DropBlockMask(
      random.Uniform({shape[0], shape[1], height - size + 1, width - size + 1}),
      dropped_ * DropBlockShare(group, height, width, size),
      static_cast<int>(size));
  // At least 1, so that nothing is divided by 0 where no element is kept.
  return kept.mul_(static_cast<double>(kept.numel()) /
                   kept.sum().clamp_min_(1));
}

torch::Tensor DropBlock::Apply(const torch::Tensor& x, int group,
                               StepRandom& random) const {
  return x * Multipliers(x.sizes(), group, random).to(x.scalar_type());
}

}  // namespace infeed
