#include "trainer/optimizer/lars.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/kernels/optimizer_math.h"
#include "trainer/optimizer/gradients.h"

namespace infeed {
namespace {

void Update(float* __restrict weight, float* __restrict average,
            const float* __restrict gradient, std::int64_t count,
            const LarsFactors& factors) {
  for (std::int64_t i = 0; i < count; ++i) {
    UpdateLars(weight[i], average[i], gradient[i], factors);
  }
}

}  // namespace

LarsOptimizer::LarsOptimizer(std::vector<OptimizedParameter> parameters,
                             const LarsOptions& options, Kernels kernels)
    : parameters_(std::move(parameters)),
      averages_(ZerosLike(parameters_)),
      options_(options),
      passes_(CanPass(parameters_, kernels)),
      pass_(parameters_) {
  for (const OptimizedParameter& parameter : parameters_) {
    weights_.push_back(parameter.weight);
  }
}

NamedTensors LarsOptimizer::State() const {
  return Named(parameters_, averages_);
}

torch::Tensor LarsOptimizer::Step(const torch::Tensor& rate) {
  const torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = TakeGradients(parameters_);
  if (passes_) {
    // On the CPU the rate is in the host's memory and can be read.
    StepInPasses(gradients, *rate.data_ptr<float>());
  } else {
    StepWithLibrary(gradients, rate);
  }
  return torch::zeros({}, rate.options());
}

std::vector<double> LarsOptimizer::SquaredNorms(
    const std::vector<torch::Tensor>& tensors) {
  pass_.Run([&](const OptimizerPass::Stretch& stretch) {
    const auto& [index, begin, end] = stretch;
    return parameters_[index].decayed
               ? SumOfSquares(tensors[index].data_ptr<float>() + begin,
                              end - begin)
               : 0;
  });
  return pass_.SumsByParameter();
}

void LarsOptimizer::StepInPasses(const std::vector<torch::Tensor>& gradients,
                                 float rate) {
  const std::vector<double> weight_squares = SquaredNorms(weights_);
  const std::vector<double> gradient_squares = SquaredNorms(gradients);
  const auto momentum = static_cast<float>(options_.momentum);
  std::vector<LarsFactors> factors(parameters_.size(),
                                   {.rate = rate, .momentum = momentum});
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (parameters_[i].decayed) {
      const double decay = parameters_[i].DecayOf(options_.weight_decay);
      factors[i].decay = static_cast<float>(decay);
      factors[i].rate =
          LarsRate(rate, options_.trust, decay, std::sqrt(weight_squares[i]),
                   std::sqrt(gradient_squares[i]));
    }
    factors[i].rate *= static_cast<float>(parameters_[i].rate_factor);
  }
  pass_.Run([&](const OptimizerPass::Stretch& stretch) {
    const auto& [index, begin, end] = stretch;
    Update(weights_[index].data_ptr<float>() + begin,
           averages_[index].data_ptr<float>() + begin,
           gradients[index].data_ptr<float>() + begin, end - begin,
           factors[index]);
    return 0.0;
  });
}

void LarsOptimizer::StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                    const torch::Tensor& rate) {
  at::_foreach_mul_(averages_, options_.momentum);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor gradient = gradients[i];
    torch::Tensor own_rate = rate;
    if (parameters_[i].decayed) {
      const torch::Tensor weight_norm = weights_[i].norm();
      const torch::Tensor gradient_norm = gradient.norm();
      const double decay = parameters_[i].DecayOf(options_.weight_decay);
      const torch::Tensor trust =
          weight_norm * options_.trust / (gradient_norm + decay * weight_norm);
      const torch::Tensor both =
          weight_norm.gt(0).logical_and_(gradient_norm.gt(0));
      own_rate = rate * torch::where(both, trust, torch::ones_like(trust));
      gradient.add_(weights_[i], decay);
    }
    averages_[i].addcmul_(gradient, own_rate, parameters_[i].rate_factor);
    weights_[i].sub_(averages_[i]);
  }
}

}  // namespace infeed
