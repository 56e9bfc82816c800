#include <cmath>
#include <cstdint>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/optimizer/pass.h"

namespace infeed {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;

// AdamW: the weight itself is reduced by rate * weight_decay * weight. Else the
// decay is added to the gradient, as that of the L2 term.
bool IsDecoupled(const OptimizerOptions& options) {
  return options.kind != OptimizerKind::kAdam;
}

bool IsNAdam(const OptimizerOptions& options) {
  return options.kind == OptimizerKind::kNAdamW;
}

double EpsilonOf(const OptimizerOptions& options) {
  return IsDecoupled(options) ? 1e-8           // of PyTorch's AdamW and NAdam
                              : 1.1920929e-7;  // of the XLA.jl article
}

struct Factors {
  float beta1 = 0;
  float beta2 = 0;
  float new1 = 0;  // 1 - beta1, rounded once
  float new2 = 0;  // 1 - beta2
  float rate = 0;  // of m; includes its bias correction
  float own = 0;   // rate of g, with Nesterov's momentum
  float root = 0;  // v's bias correction, applied to its root
  float epsilon = 0;
  float l2 = 0;    // factor of the weight in the gradient
  float kept = 1;  // factor of the weight with decoupled decay
};

inline void UpdateOne(float& weight, float& mean, float& square, float gradient,
                      const Factors& factors, float& squares) {
  squares += weight * weight;
  const float g = gradient + factors.l2 * weight;
  mean = factors.beta1 * mean + factors.new1 * g;
  square = factors.beta2 * square + factors.new2 * g * g;
  weight = factors.kept * weight -
           (factors.rate * mean + factors.own * gradient) /
               (std::sqrt(square) * factors.root + factors.epsilon);
}

// Updates `count` elements; returns the sum of squares of the old weights.
double Update(float* __restrict weight, float* __restrict mean,
              float* __restrict square, const float* __restrict gradient,
              std::int64_t count, const Factors& factors) {
  return SumInLanes(count, [&](std::int64_t i, float& squares) {
    UpdateOne(weight[i], mean[i], square[i], gradient[i], factors, squares);
  });
}

// mu(t) of NAdam.
double MomentumAt(double t) {
  return kBeta1 * (1 - 0.5 * std::pow(0.96, t * 0.004));
}
torch::Tensor MomentumAt(const torch::Tensor& t) {
  return (1 - torch::pow(0.96, t * 0.004) * 0.5) * kBeta1;
}

Factors FactorsOf(const OptimizerOptions& options, std::int64_t step,
                  double product, double rate) {
  const auto t = static_cast<double>(step);
  Factors factors = {
      .beta1 = static_cast<float>(kBeta1),
      .beta2 = static_cast<float>(kBeta2),
      .new1 = static_cast<float>(1 - kBeta1),
      .new2 = static_cast<float>(1 - kBeta2),
      .rate = static_cast<float>(rate / (1 - std::pow(kBeta1, t))),
      .root = static_cast<float>(1 / std::sqrt(1 - std::pow(kBeta2, t))),
      .epsilon = static_cast<float>(EpsilonOf(options))};
  if (IsNAdam(options)) {
    const double next = MomentumAt(t + 1);
    factors.rate = static_cast<float>(rate * next / (1 - product * next));
    factors.own =
        static_cast<float>(rate * (1 - MomentumAt(t)) / (1 - product));
  }
  return factors;
}

// Adam (Kingma and Ba, arXiv 1412.6980) as in the XLA.jl article's models, and
// AdamW (Loshchilov and Hutter, arXiv 1711.05101) as in PyTorch. At the t-th
// step, counted from 1,
//
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   w = w - rate * m / ((1 - beta1^t) * (sqrt(v / (1 - beta2^t)) + epsilon))
//
// and NAdamW, as PyTorch's NAdam (Dozat, 2016), with c the momentum's decay of
// 0.004, mu(t) = beta1 * (1 - 0.96^(t * c) / 2) and M(t) the product of mu(1)
// to mu(t),
//
//   w = w - rate * (mu(t + 1) / (1 - M(t + 1)) * m + (1 - mu(t)) / (1 - M(t)) *
//       g) / (sqrt(v / (1 - beta2^t)) + epsilon)
//
// t and M are kept on the device with m and v.
class AdamOptimizer final : public PassOptimizer {
 public:
  explicit AdamOptimizer(PassSetup setup)
      : PassOptimizer(std::move(setup)),
        means_(ZerosLike(parameters_)),
        squares_(ZerosLike(parameters_)),
        step_(torch::zeros(
            {}, torch::device(DeviceOf(parameters_)).dtype(torch::kLong))),
        product_(torch::ones({}, torch::device(DeviceOf(parameters_)))) {}

  [[nodiscard]] NamedTensors State() const override {
    NamedTensors state = NamedMoments(parameters_, means_, squares_);
    state.emplace_back("step", step_);
    if (IsNAdam(options_)) {
      state.emplace_back("mu", product_);
    }
    return state;
  }

 private:
  void CountStep() override {
    step_.add_(1);
    if (IsNAdam(options_)) {
      product_.mul_(MomentumAt(step_.to(torch::kDouble)));
    }
  }

  torch::Tensor StepInPasses(const std::vector<torch::Tensor>& gradients,
                             float rate) override {
    const Factors plain = FactorsOf(options_, *step_.data_ptr<std::int64_t>(),
                                    *product_.data_ptr<float>(), rate);
    pass_.Run([&](const OptimizerPass::Stretch& stretch) {
      const auto& [index, begin, end] = stretch;
      const OptimizedParameter& parameter = parameters_[index];
      Factors factors = plain;
      factors.rate *= static_cast<float>(parameter.rate_factor);
      factors.own *= static_cast<float>(parameter.rate_factor);
      const double decay = parameter.DecayOf(options_.weight_decay);
      if (IsDecoupled(options_)) {
        factors.kept =
            static_cast<float>(1 - rate * parameter.rate_factor * decay);
      } else {
        factors.l2 = static_cast<float>(decay);
      }
      const double squares = Update(parameter.weight.data_ptr<float>() + begin,
                                    means_[index].data_ptr<float>() + begin,
                                    squares_[index].data_ptr<float>() + begin,
                                    gradients[index].data_ptr<float>() + begin,
                                    end - begin, factors);
      return parameter.DecayOf(squares);
    });
    return IsDecoupled(options_) ? torch::zeros({}, torch::kFloat) : L2OfPass();
  }

  torch::Tensor StepWithLibrary(const std::vector<torch::Tensor>& gradients,
                                const torch::Tensor& rate) override {
    torch::Tensor l2 = DecayWithLibrary(gradients, rate);
    at::_foreach_mul_(means_, kBeta1);
    at::_foreach_add_(means_, gradients, 1 - kBeta1);
    at::_foreach_mul_(squares_, kBeta2);
    at::_foreach_addcmul_(squares_, gradients, gradients, 1 - kBeta2);
    const torch::Tensor t = step_.to(torch::kDouble);
    torch::Tensor mean_rate =
        (rate / (1 - torch::pow(kBeta1, t))).to(torch::kFloat);
    torch::Tensor own_rate;
    if (IsNAdam(options_)) {
      const torch::Tensor next = MomentumAt(t + 1);
      mean_rate = (rate * next / (1 - product_ * next)).to(torch::kFloat);
      own_rate =
          (rate * (1 - MomentumAt(t)) / (1 - product_)).to(torch::kFloat);
    }
    const torch::Tensor root =
        (1 - torch::pow(kBeta2, t)).rsqrt().to(torch::kFloat);
    const std::vector<torch::Tensor> roots = at::_foreach_sqrt(squares_);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      torch::Tensor divisor = roots[i];
      divisor.mul_(root).add_(EpsilonOf(options_));
      torch::Tensor weight = parameters_[i].weight;
      weight.addcmul_(means_[i].div(divisor), mean_rate,
                      -parameters_[i].rate_factor);
      if (IsNAdam(options_)) {
        weight.addcmul_(gradients[i].div(divisor), own_rate,
                        -parameters_[i].rate_factor);
      }
    }
    return l2;
  }

  torch::Tensor DecayWithLibrary(const std::vector<torch::Tensor>& gradients,
                                 const torch::Tensor& rate) {
    if (!IsDecoupled(options_)) {
      return AddL2(parameters_, gradients, options_.weight_decay, rate);
    }
    for (OptimizedParameter& parameter : parameters_) {
      if (parameter.decayed) {
        parameter.weight.mul_(1 -
                              rate * (parameter.DecayOf(options_.weight_decay) *
                                      parameter.rate_factor));
      }
    }
    return torch::zeros({}, rate.options());
  }

  std::vector<torch::Tensor> means_;    // m; from 0
  std::vector<torch::Tensor> squares_;  // v; from 0
  torch::Tensor step_;                  // t, int64; from 0
  torch::Tensor product_;               // M, float32; from 1
};

}  // namespace

std::unique_ptr<Optimizer> MakeAdam(PassSetup setup) {
  return std::make_unique<AdamOptimizer>(std::move(setup));
}

}  // namespace infeed
