#include "trainer/network/init.h"

#include <cmath>
#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "base/random.h"
#include "trainer/network/random.h"

namespace infeed {
namespace {

using Initialiser = std::function<void(torch::Tensor&, at::Generator&)>;

void TruncatedNormal(torch::Tensor& weight, at::Generator& generator) {
  const double fan_in = static_cast<double>(weight[0].numel());
  const double uncut = std::sqrt(1 / fan_in) / 0.87962566103423978;
  // The inverse distribution function at uniform points between the two cuts.
  const double cut = std::erf(std::sqrt(2.0));
  weight.uniform_(-cut, cut, generator)
      .erfinv_()
      .mul_(std::sqrt(2.0) * uncut)
      .clamp_(-2 * uncut, 2 * uncut);
}

void Reference(torch::Tensor& weight, at::Generator& generator) {
  if (weight.dim() == 4) {
    TruncatedNormal(weight, generator);
  } else {
    weight.normal_(0, 0.01, generator);
  }
}

void Glorot(torch::Tensor& weight, at::Generator& generator) {
  const std::int64_t fan_in = weight[0].numel();
  const std::int64_t fan_out = weight.select(1, 0).numel();
  const double limit = std::sqrt(6 / static_cast<double>(fan_in + fan_out));
  weight.uniform_(-limit, limit, generator);
}

void Flux(torch::Tensor& weight, at::Generator& generator) {
  std::int64_t sum = 0;
  for (const std::int64_t dimension : weight.sizes()) {
    sum += dimension;
  }
  const double limit = std::sqrt(6 / static_cast<double>(sum));
  weight.uniform_(-limit, limit, generator);
}

Initialiser InitialiserOf(const ModelOptions& options) {
  if (options.kind == ModelKind::kLeNet) {
    return Glorot;
  }
  return options.variant == ModelVariant::kXlaJl ? Flux : Reference;
}

// Philox hashes the whole seed into the 32 bits that the CPU's generator takes.
at::Generator GeneratorFor(std::uint64_t seed) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  return MakeGenerator(torch::kCPU, Philox4x32({low, high}, {0, 0, 0, 0})[0]);
}

}  // namespace

void InitialiseWeights(const ModelOptions& options,
                       torch::nn::Module& network) {
  const torch::NoGradGuard no_grad;
  const Initialiser initialise = InitialiserOf(options);
  at::Generator generator = GeneratorFor(options.seed);
  for (auto& parameter : network.named_parameters()) {
    if (parameter.value().dim() > 1) {
      initialise(parameter.value(), generator);
    } else if (parameter.key().ends_with("bias")) {
      parameter.value().zero_();
    }
  }
}

}  // namespace infeed
