#include "trainer/network/random.h"

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

}  // namespace infeed
