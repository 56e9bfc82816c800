#pragma once

// Optimizers' formulas for one element; the same on the CPU and in kernels.
namespace infeed {

struct MomentumFactors {
  float rate = 0;
  float momentum = 0;
  float direct = 0;    // factor of g in the update: 1 with Nesterov, else 0
  float averaged = 0;  // factor of a in the update
  float decay = 0;
};

[[nodiscard]] constexpr MomentumFactors MakeMomentumFactors(double momentum,
                                                            bool nesterov,
                                                            double decay) {
  const auto m = static_cast<float>(momentum);
  return {.rate = 0,
          .momentum = m,
          .direct = nesterov ? 1.0F : 0.0F,
          .averaged = nesterov ? m : 1.0F,
          .decay = static_cast<float>(decay)};
}

// MomentumOptimizer's formula (momentum.cc).
constexpr void UpdateMomentum(float& weight, float& average, float gradient,
                              const MomentumFactors& factors) {
  const float g = gradient + factors.decay * weight;
  average = factors.momentum * average + g;
  weight -= factors.rate * (factors.direct * g + factors.averaged * average);
}

struct LarsFactors {
  float rate = 0;  // r
  float momentum = 0;
  float decay = 0;
};

// LarsOptimizer's formula (lars.cc).
constexpr void UpdateLars(float& weight, float& average, float gradient,
                          const LarsFactors& factors) {
  average = factors.momentum * average +
            factors.rate * (gradient + factors.decay * weight);
  weight -= average;
}

// LarsOptimizer's r of a parameter that is decayed, from the norms of the
// weight and the gradient.
[[nodiscard]] constexpr float LarsRate(float rate, double trust, double decay,
                                       double weight_norm,
                                       double gradient_norm) {
  return weight_norm > 0 && gradient_norm > 0
             ? static_cast<float>(rate * trust * weight_norm /
                                  (gradient_norm + decay * weight_norm))
             : rate;
}

}  // namespace infeed
