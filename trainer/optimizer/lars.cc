#include <cmath>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/kernels/optimizer_math.h"
#include "trainer/optimizer/pass.h"

namespace infeed {
namespace {

void Update(float* __restrict weight, float* __restrict average,
            const float* __restrict gradient, std::int64_t count,
            const LarsFactors& factors) {
  for (std::int64_t i = 0; i < count; ++i) {
    UpdateLars(weight[i], average[i], gradient[i], factors);
  }
}

constexpr double kTrust = 0.001;  // the reference's "eeta"

// Layer-wise adaptive rates (You et al., arXiv 1708.03888), in the reference's
// later form, where the average includes the rate. With d the weight decay, for
// a parameter that is decayed,
//
//   r = rate * trust * |w| / (|gradient| + d * |w|)   (rate where one is 0)
//   a = momentum * a + r * (gradient + d * w)
//   w = w - a
//
// and for the others r = rate, d = 0. Weight decay is not part of the loss.
class LarsOptimizer final : public PassOptimizer {
 public:
  explicit LarsOptimizer(PassSetup setup)
      : PassOptimizer(std::move(setup)), averages_(ZerosLike(parameters_)) {
    for (const OptimizedParameter& parameter : parameters_) {
      weights_.push_back(parameter.weight);
    }
  }

  [[nodiscard]] NamedTensors State() const override {
    return Named(parameters_, averages_);
  }

 private:
  torch::Tensor StepInPasses(const std::vector<torch::Tensor>& gradients,
                             float rate) override {
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
            LarsRate(rate, kTrust, decay, std::sqrt(weight_squares[i]),
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
    return torch::zeros({}, torch::kFloat);
  }

  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate) override {
    at::_foreach_mul_(averages_, options_.momentum);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      torch::Tensor gradient = gradients[i];
      torch::Tensor own_rate = rate;
      if (parameters_[i].decayed) {
        const torch::Tensor weight_norm = weights_[i].norm();
        const torch::Tensor gradient_norm = gradient.norm();
        const double decay = parameters_[i].DecayOf(options_.weight_decay);
        const torch::Tensor trust =
            weight_norm * kTrust / (gradient_norm + decay * weight_norm);
        const torch::Tensor both =
            weight_norm.gt(0).logical_and_(gradient_norm.gt(0));
        own_rate = rate * torch::where(both, trust, torch::ones_like(trust));
        gradient.add_(weights_[i], decay);
      }
      averages_[i].addcmul_(gradient, own_rate, parameters_[i].rate_factor);
      weights_[i].sub_(averages_[i]);
    }
    return torch::zeros({}, rate.options());
  }

  std::vector<double> SquaredNorms(const std::vector<torch::Tensor>& tensors) {
    pass_.Run([&](const OptimizerPass::Stretch& stretch) {
      const auto& [index, begin, end] = stretch;
      return parameters_[index].decayed
                 ? SumOfSquares(tensors[index].data_ptr<float>() + begin,
                                end - begin)
                 : 0;
    });
    return pass_.SumsByParameter();
  }

  std::vector<torch::Tensor> weights_;
  std::vector<torch::Tensor> averages_;  // a; from 0
};

}  // namespace

std::unique_ptr<Optimizer> MakeLars(PassSetup setup) {
  return std::make_unique<LarsOptimizer>(std::move(setup));
}

}  // namespace infeed
