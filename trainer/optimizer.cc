#include "trainer/optimizer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace infeed {
namespace {

// Elements of a stretch: small enough to share among threads and to sum
// squares in float32, large enough to make its overhead vanish.
constexpr std::int64_t kStretch = 16384;

// Numbers summed side by side, so that the compiler can use SIMD.
constexpr int kLanes = 16;

struct Factors {
  float rate = 0;
  float momentum = 0;
  float direct = 0;    // of g in the update: 1 with Nesterov, else 0
  float averaged = 0;  // of a in the update
  float decay = 0;
};

inline void UpdateOne(float& weight, float& average, float gradient,
                      const Factors& factors, float& squares) {
  squares += weight * weight;
  const float g = gradient + factors.decay * weight;
  average = factors.momentum * average + g;
  weight -= factors.rate * (factors.direct * g + factors.averaged * average);
}

// Updates count elements and returns the sum of squares before.
double Update(float* __restrict weight, float* __restrict average,
              const float* __restrict gradient, std::int64_t count,
              const Factors& factors) {
  std::array<float, kLanes> squares{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      UpdateOne(weight[i + lane], average[i + lane], gradient[i + lane],
                factors, squares[static_cast<std::size_t>(lane)]);
    }
  }
  for (; i < count; ++i) {
    UpdateOne(weight[i], average[i], gradient[i], factors, squares[0]);
  }
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

// The gradient with its elements in memory in the same order as the weight's.
// Backward passes give it so almost always. Strides of a dimension of one
// element say nothing.
torch::Tensor LaidOutLike(const torch::Tensor& weight,
                          const torch::Tensor& gradient) {
  for (std::int64_t i = 0; i < weight.dim(); ++i) {
    if (weight.size(i) != 1 && weight.stride(i) != gradient.stride(i)) {
      return torch::empty_like(weight).copy_(gradient);
    }
  }
  return gradient;
}

}  // namespace

MomentumOptimizer::MomentumOptimizer(std::vector<OptimizedParameter> parameters,
                                     const MomentumOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  const torch::NoGradGuard no_grad;
  one_pass_ = !options_.library_kernels;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    OptimizedParameter& parameter = parameters_[i];
    parameter.momentum = torch::zeros_like(parameter.weight);
    one_pass_ = one_pass_ && parameter.weight.is_cpu();
    const std::int64_t count = parameter.weight.numel();
    for (std::int64_t begin = 0; begin < count; begin += kStretch) {
      stretches_.push_back({i, begin, std::min(begin + kStretch, count)});
    }
  }
  squares_.resize(stretches_.size());
}

torch::Tensor MomentumOptimizer::Step(const torch::Tensor& rate) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (OptimizedParameter& parameter : parameters_) {
    torch::Tensor& gradient = parameter.weight.mutable_grad();
    gradients.push_back(LaidOutLike(parameter.weight, gradient));
    gradient.reset();
  }
  // The CPU's memory is the host's: its loop may read the rate.
  return one_pass_ ? StepInOnePass(gradients, *rate.data_ptr<float>())
                   : StepWithLibrary(std::move(gradients), rate);
}

torch::Tensor MomentumOptimizer::StepInOnePass(
    const std::vector<torch::Tensor>& gradients, float rate) {
  const auto momentum = static_cast<float>(options_.momentum);
  const auto decay = static_cast<float>(options_.weight_decay);
  const auto update = [&](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first);
         i < static_cast<std::size_t>(last); ++i) {
      const auto& [index, begin, end] = stretches_[i];
      const OptimizedParameter& parameter = parameters_[index];
      const Factors factors = {.rate = rate,
                               .momentum = momentum,
                               .direct = options_.nesterov ? 1.0F : 0.0F,
                               .averaged = options_.nesterov ? momentum : 1.0F,
                               .decay = parameter.decayed ? decay : 0.0F};
      const double squares = Update(
          parameter.weight.data_ptr<float>() + begin,
          parameter.momentum.data_ptr<float>() + begin,
          gradients[index].data_ptr<float>() + begin, end - begin, factors);
      squares_[i] = parameter.decayed ? squares : 0;
    }
  };
  at::parallel_for(0, static_cast<std::int64_t>(stretches_.size()), 1, update);
  // Summed in one order whatever thread had which stretch.
  const double squares = std::accumulate(squares_.begin(), squares_.end(), 0.0);
  return torch::scalar_tensor(options_.weight_decay / 2 * squares,
                              torch::kFloat);
}

torch::Tensor MomentumOptimizer::StepWithLibrary(
    std::vector<torch::Tensor> gradients, const torch::Tensor& rate) {
  std::vector<torch::Tensor> averages;
  std::vector<torch::Tensor> decayed;
  std::vector<torch::Tensor> decayed_gradients;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    averages.push_back(parameters_[i].momentum);
    if (parameters_[i].decayed) {
      decayed.push_back(parameters_[i].weight);
      decayed_gradients.push_back(gradients[i]);
    }
  }
  torch::Tensor l2 = torch::zeros({}, rate.options());
  if (!decayed.empty()) {
    l2 = torch::stack(at::_foreach_norm(decayed)).square().sum() *
         (options_.weight_decay / 2);
    at::_foreach_add_(decayed_gradients, decayed, options_.weight_decay);
  }
  at::_foreach_mul_(averages, options_.momentum);
  at::_foreach_add_(averages, gradients);
  if (options_.nesterov) {
    at::_foreach_add_(gradients, averages, options_.momentum);
  }
  // 1.13 has no kernel over lists that takes its factor from the device.
  const std::vector<torch::Tensor>& updates =
      options_.nesterov ? gradients : averages;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor weight = parameters_[i].weight;
    weight.addcmul_(updates[i], rate, -1);
  }
  return l2;
}

}  // namespace infeed
