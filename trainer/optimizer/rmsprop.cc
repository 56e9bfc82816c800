#include <cmath>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/optimizer/pass.h"

namespace infeed {
namespace {

constexpr double kRmsPropDecay = 0.9;
constexpr double kRmsPropEpsilon = 1e-3;

struct RmsPropFactors {
  float kept = 0;   // decay
  float taken = 0;  // 1 - decay, rounded once
  float momentum = 0;
  float rate = 0;
  float epsilon = 0;
  float l2 = 0;  // factor of the weight in the gradient
};

inline void UpdateOne(float& weight, float& move, float& square, float gradient,
                      const RmsPropFactors& factors, float& squares) {
  squares += weight * weight;
  const float g = gradient + factors.l2 * weight;
  square = factors.kept * square + factors.taken * g * g;
  move = factors.momentum * move +
         factors.rate * g / std::sqrt(square + factors.epsilon);
  weight -= move;
}

// Updates `count` elements; returns the sum of squares of the old weights.
double Update(float* __restrict weight, float* __restrict move,
              float* __restrict square, const float* __restrict gradient,
              std::int64_t count, const RmsPropFactors& factors) {
  return SumInLanes(count, [&](std::int64_t i, float& squares) {
    UpdateOne(weight[i], move[i], square[i], gradient[i], factors, squares);
  });
}

// RMSprop (Hinton, 2012) as in TensorFlow and timm's RMSpropTF: epsilon is
// under the root, v starts at 1, and the momentum includes the rate. decay and
// epsilon are those of the published recipes.
//
//   g = gradient + weight_decay * w        (the L2 term's part)
//   v = decay * v + (1 - decay) * g^2
//   m = momentum * m + rate * g / sqrt(v + epsilon)
//   w = w - m
class RmsPropOptimizer final : public PassOptimizer {
 public:
  explicit RmsPropOptimizer(PassSetup setup)
      : PassOptimizer(std::move(setup)),
        moves_(ZerosLike(parameters_)),
        squares_(ZerosLike(parameters_)) {
    for (torch::Tensor& square : squares_) {
      square.fill_(1);
    }
  }

  [[nodiscard]] NamedTensors State() const override {
    return NamedMoments(parameters_, moves_, squares_);
  }

 private:
  torch::Tensor StepInPasses(const std::vector<torch::Tensor>& gradients,
                             float rate) override {
    const RmsPropFactors plain = {
        .kept = static_cast<float>(kRmsPropDecay),
        .taken = static_cast<float>(1 - kRmsPropDecay),
        .momentum = static_cast<float>(options_.momentum),
        .rate = rate,
        .epsilon = static_cast<float>(kRmsPropEpsilon)};
    pass_.Run([&](const OptimizerPass::Stretch& stretch) {
      const auto& [index, begin, end] = stretch;
      const OptimizedParameter& parameter = parameters_[index];
      RmsPropFactors factors = plain;
      factors.rate *= static_cast<float>(parameter.rate_factor);
      factors.l2 = static_cast<float>(parameter.DecayOf(options_.weight_decay));
      return parameter.DecayOf(Update(
          parameter.weight.data_ptr<float>() + begin,
          moves_[index].data_ptr<float>() + begin,
          squares_[index].data_ptr<float>() + begin,
          gradients[index].data_ptr<float>() + begin, end - begin, factors));
    });
    return L2OfPass();
  }

  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate) override {
    const torch::Tensor l2 =
        AddL2(parameters_, gradients, options_.weight_decay, rate);
    at::_foreach_mul_(squares_, kRmsPropDecay);
    at::_foreach_addcmul_(squares_, gradients, gradients, 1 - kRmsPropDecay);
    at::_foreach_mul_(moves_, options_.momentum);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const torch::Tensor root = squares_[i].add(kRmsPropEpsilon).sqrt_();
      moves_[i].addcmul_(gradients[i].div(root), rate,
                         parameters_[i].rate_factor);
      torch::Tensor weight = parameters_[i].weight;
      weight.sub_(moves_[i]);
    }
    return l2;
  }

  std::vector<torch::Tensor> moves_;    // m; from 0
  std::vector<torch::Tensor> squares_;  // v; from 1
};

}  // namespace

std::unique_ptr<Optimizer> MakeRmsProp(PassSetup setup) {
  return std::make_unique<RmsPropOptimizer>(std::move(setup));
}

}  // namespace infeed
