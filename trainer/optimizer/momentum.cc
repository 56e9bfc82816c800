#include "trainer/optimizer/momentum.h"

#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/kernels/optimizer_math.h"
#include "trainer/optimizer/gradients.h"

namespace infeed {
namespace {

inline void UpdateOne(float& weight, float& average, float gradient,
                      const MomentumFactors& factors, float& squares) {
  squares += weight * weight;
  UpdateMomentum(weight, average, gradient, factors);
}

// Updates `count` elements; returns the sum of squares of the old weights.
double Update(float* __restrict weight, float* __restrict average,
              const float* __restrict gradient, std::int64_t count,
              const MomentumFactors& factors) {
  return SumInLanes(count, [&](std::int64_t i, float& squares) {
    UpdateOne(weight[i], average[i], gradient[i], factors, squares);
  });
}

}  // namespace

MomentumOptimizer::MomentumOptimizer(std::vector<OptimizedParameter> parameters,
                                     const MomentumOptions& options,
                                     Kernels kernels)
    : parameters_(std::move(parameters)),
      averages_(ZerosLike(parameters_)),
      options_(options),
      one_pass_(CanPass(parameters_, kernels)),
      pass_(parameters_) {}

NamedTensors MomentumOptimizer::State() const {
  return Named(parameters_, averages_);
}

torch::Tensor MomentumOptimizer::Step(const torch::Tensor& rate) {
  const torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = TakeGradients(parameters_);
  // On the CPU the rate is in the host's memory and can be read.
  return one_pass_ ? StepInOnePass(gradients, *rate.data_ptr<float>())
                   : StepWithLibrary(gradients, rate);
}

torch::Tensor MomentumOptimizer::StepInOnePass(
    const std::vector<torch::Tensor>& gradients, float rate) {
  MomentumFactors plain =
      MakeMomentumFactors(options_.momentum, options_.nesterov, 0);
  plain.rate = rate;
  pass_.Run([&](const OptimizerPass::Stretch& stretch) {
    const auto& [index, begin, end] = stretch;
    const OptimizedParameter& parameter = parameters_[index];
    MomentumFactors factors = plain;
    factors.rate *= static_cast<float>(parameter.rate_factor);
    factors.decay =
        static_cast<float>(parameter.DecayOf(options_.weight_decay));
    const double squares = Update(parameter.weight.data_ptr<float>() + begin,
                                  averages_[index].data_ptr<float>() + begin,
                                  gradients[index].data_ptr<float>() + begin,
                                  end - begin, factors);
    return parameter.DecayOf(squares);
  });
  return torch::scalar_tensor(options_.weight_decay / 2 * pass_.Sum(),
                              torch::kFloat);
}

torch::Tensor MomentumOptimizer::StepWithLibrary(
    const std::vector<torch::Tensor>& gradients, const torch::Tensor& rate) {
  const torch::Tensor l2 =
      AddL2(parameters_, gradients, options_.weight_decay, rate);
  at::_foreach_mul_(averages_, options_.momentum);
  at::_foreach_add_(averages_, gradients);
  if (options_.nesterov) {
    at::_foreach_add_(gradients, averages_, options_.momentum);
  }
  // LibTorch 1.13 has no kernel over lists with a factor on the device.
  const std::vector<torch::Tensor>& updates =
      options_.nesterov ? gradients : averages_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor weight = parameters_[i].weight;
    weight.addcmul_(updates[i], rate, -parameters_[i].rate_factor);
  }
  return l2;
}

}  // namespace infeed
