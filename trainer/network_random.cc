#include "trainer/network_random.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include "base/random.h"

namespace infeed {
namespace {

std::uint64_t SeedOf(std::uint64_t seed, std::int64_t step) {
  SampleRandom random(
      {.seed = seed, .position = static_cast<std::uint64_t>(step)},
      RandomStream::kNetwork);
  const std::uint64_t low = random.Word();
  return low | std::uint64_t{random.Word()} << 32;
}

}  // namespace

at::Generator MakeGenerator(const torch::Device& device, std::uint64_t seed) {
  // A copy of the device's own: the one way that every kind of device has.
  at::Generator generator =
      at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  return generator;
}

StepRandom::StepRandom(std::uint64_t seed)
    : seed_(seed),
      device_(torch::kCPU),
      generator_(MakeGenerator(device_, SeedOf(seed, 0))) {}

void StepRandom::SetStep(std::int64_t step, const torch::Device& device) {
  const std::uint64_t seed = SeedOf(seed_, step);
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
