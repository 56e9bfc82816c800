#include <cmath>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/optimizer/pass.h"

namespace infeed {
namespace {

constexpr double kLambBeta1 = 0.9;
constexpr double kLambBeta2 = 0.999;
constexpr double kLambEpsilon = 1e-6;  // timm's

struct LambFactors {
  float beta1 = 0;
  float beta2 = 0;
  float new1 = 0;  // 1 - beta1, rounded once
  float new2 = 0;  // 1 - beta2
  float mean = 0;  // m's bias correction
  float root = 0;  // v's bias correction, applied to its root
  float epsilon = 0;
  float decay = 0;
};

// Updates m and v, writes u over the gradient and returns its square.
inline float UpdateOne(float weight, float& mean, float& square,
                       float& gradient, const LambFactors& factors) {
  mean = factors.beta1 * mean + factors.new1 * gradient;
  square = factors.beta2 * square + factors.new2 * gradient * gradient;
  gradient = factors.mean * mean /
                 (std::sqrt(square) * factors.root + factors.epsilon) +
             factors.decay * weight;
  return gradient * gradient;
}

// Returns the sum of squares of u.
double Update(const float* __restrict weight, float* __restrict mean,
              float* __restrict square, float* __restrict gradient,
              std::int64_t count, const LambFactors& factors) {
  return SumInLanes(count, [&](std::int64_t i, float& squares) {
    squares += UpdateOne(weight[i], mean[i], square[i], gradient[i], factors);
  });
}

void Subtract(float* __restrict weight, const float* __restrict update,
              std::int64_t count, float rate) {
  for (std::int64_t i = 0; i < count; ++i) {
    weight[i] -= rate * update[i];
  }
}

// LAMB (You et al., arXiv 1904.00962) as in timm. At the t-th step, counted
// from 1, with d the weight decay,
//
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + d * w
//   r = |w| / |u| for a parameter that is decayed (1 where one is 0), else 1
//   w = w - rate * r * u
//
// Weight decay is not part of the loss. t is kept on the device with m and v.
class LambOptimizer final : public PassOptimizer {
 public:
  explicit LambOptimizer(PassSetup setup)
      : PassOptimizer(std::move(setup)),
        means_(ZerosLike(parameters_)),
        squares_(ZerosLike(parameters_)),
        step_(torch::zeros(
            {}, torch::device(DeviceOf(parameters_)).dtype(torch::kLong))) {}

  [[nodiscard]] NamedTensors State() const override {
    NamedTensors state = NamedMoments(parameters_, means_, squares_);
    state.emplace_back("step", step_);
    return state;
  }

 private:
  void CountStep() override { step_.add_(1); }
  torch::Tensor StepInPasses(const std::vector<torch::Tensor>& gradients,
                             float rate) override {
    const std::vector<double> weight_squares = WeightNorms();
    const auto t = static_cast<double>(*step_.data_ptr<std::int64_t>());
    const LambFactors plain = {
        .beta1 = static_cast<float>(kLambBeta1),
        .beta2 = static_cast<float>(kLambBeta2),
        .new1 = static_cast<float>(1 - kLambBeta1),
        .new2 = static_cast<float>(1 - kLambBeta2),
        .mean = static_cast<float>(1 / (1 - std::pow(kLambBeta1, t))),
        .root = static_cast<float>(1 / std::sqrt(1 - std::pow(kLambBeta2, t))),
        .epsilon = static_cast<float>(kLambEpsilon)};
    pass_.Run([&](const OptimizerPass::Stretch& stretch) {
      const auto& [index, begin, end] = stretch;
      const OptimizedParameter& parameter = parameters_[index];
      LambFactors factors = plain;
      factors.decay =
          static_cast<float>(parameter.DecayOf(options_.weight_decay));
      return Update(parameter.weight.data_ptr<float>() + begin,
                    means_[index].data_ptr<float>() + begin,
                    squares_[index].data_ptr<float>() + begin,
                    gradients[index].data_ptr<float>() + begin, end - begin,
                    factors);
    });
    const std::vector<double> update_squares = pass_.SumsByParameter();
    pass_.Run([&](const OptimizerPass::Stretch& stretch) {
      const auto& [index, begin, end] = stretch;
      const double weights = weight_squares[index];
      const double updates = update_squares[index];
      const double ratio =
          weights > 0 && updates > 0 ? std::sqrt(weights / updates) : 1;
      Subtract(
          parameters_[index].weight.data_ptr<float>() + begin,
          gradients[index].data_ptr<float>() + begin, end - begin,
          static_cast<float>(rate * parameters_[index].rate_factor * ratio));
      return 0.0;
    });
    return torch::zeros({}, torch::kFloat);
  }

  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate) override {
    at::_foreach_mul_(means_, kLambBeta1);
    at::_foreach_add_(means_, gradients, 1 - kLambBeta1);
    at::_foreach_mul_(squares_, kLambBeta2);
    at::_foreach_addcmul_(squares_, gradients, gradients, 1 - kLambBeta2);
    const torch::Tensor t = step_.to(torch::kDouble);
    const torch::Tensor mean =
        (1 - torch::pow(kLambBeta1, t)).reciprocal().to(torch::kFloat);
    const torch::Tensor root =
        (1 - torch::pow(kLambBeta2, t)).rsqrt().to(torch::kFloat);
    const std::vector<torch::Tensor> roots = at::_foreach_sqrt(squares_);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const OptimizedParameter& parameter = parameters_[i];
      torch::Tensor weight = parameter.weight;
      const torch::Tensor& divisor = roots[i];
      divisor.mul_(root).add_(kLambEpsilon);
      const torch::Tensor update = means_[i].div(divisor).mul_(mean);
      torch::Tensor own_rate = rate;
      if (parameter.decayed) {
        update.add_(weight, parameter.DecayOf(options_.weight_decay));
        const torch::Tensor weight_norm = weight.norm();
        const torch::Tensor update_norm = update.norm();
        const torch::Tensor both =
            weight_norm.gt(0).logical_and_(update_norm.gt(0));
        own_rate = rate * torch::where(both, weight_norm / update_norm,
                                       torch::ones_like(update_norm));
      }
      weight.addcmul_(update, own_rate, -parameter.rate_factor);
    }
    return torch::zeros({}, rate.options());
  }

  std::vector<double> WeightNorms() {
    pass_.Run([&](const OptimizerPass::Stretch& stretch) {
      const auto& [index, begin, end] = stretch;
      return parameters_[index].decayed
                 ? SumOfSquares(
                       parameters_[index].weight.data_ptr<float>() + begin,
                       end - begin)
                 : 0;
    });
    return pass_.SumsByParameter();
  }

  std::vector<torch::Tensor> means_;    // m; from 0
  std::vector<torch::Tensor> squares_;  // v; from 0
  torch::Tensor step_;                  // t, int64; from 0
};

}  // namespace

std::unique_ptr<Optimizer> MakeLamb(PassSetup setup) {
  return std::make_unique<LambOptimizer>(std::move(setup));
}

}  // namespace infeed
