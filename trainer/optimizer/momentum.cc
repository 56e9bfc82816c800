#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/kernels/optimizer_math.h"
#include "trainer/optimizer/pass.h"

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

// Stochastic gradient descent with momentum m, as in the reference:
//
//   g = gradient + weight_decay * w        (the L2 term's part)
//   a = m * a + g
//   w = w - rate * (g + m * a)             (rate * a without Nesterov)
class MomentumOptimizer final : public PassOptimizer {
 public:
  explicit MomentumOptimizer(PassSetup setup)
      : PassOptimizer(std::move(setup)), averages_(ZerosLike(parameters_)) {}

  [[nodiscard]] NamedTensors State() const override {
    return Named(parameters_, averages_);
  }

 private:
  torch::Tensor StepInPasses(const std::vector<torch::Tensor>& gradients,
                             float rate) override {
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
    return L2OfPass();
  }

  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate) override {
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

  std::vector<torch::Tensor> averages_;  // a; from 0
};

}  // namespace

std::unique_ptr<Optimizer> MakeMomentum(PassSetup setup) {
  return std::make_unique<MomentumOptimizer>(std::move(setup));
}

}  // namespace infeed
