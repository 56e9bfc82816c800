#include "trainer/optimizer/pass.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace infeed {
namespace {

// Backward passes almost always give a gradient its weight's layout. The
// strides of a dimension of one element do not matter.
torch::Tensor LaidOutLike(const torch::Tensor& weight,
                          const torch::Tensor& gradient) {
  for (std::int64_t i = 0; i < weight.dim(); ++i) {
    if (weight.size(i) != 1 && weight.stride(i) != gradient.stride(i)) {
      return torch::empty_like(weight).copy_(gradient);
    }
  }
  return gradient;
}

// Elements of a stretch: small enough to share among threads and to sum
// squares in float32, large enough to make its overhead vanish.
constexpr std::int64_t kStretch = 16384;

}  // namespace

std::vector<torch::Tensor> TakeGradients(
    const std::vector<OptimizedParameter>& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const OptimizedParameter& parameter : parameters) {
    torch::Tensor& gradient = parameter.weight.mutable_grad();
    gradients.push_back(LaidOutLike(parameter.weight, gradient));
    gradient.reset();
  }
  return gradients;
}

void ClipGradients(const std::vector<OptimizedParameter>& parameters,
                   double longest) {
  const torch::NoGradGuard no_grad;
  if (parameters.empty()) {
    return;
  }
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const OptimizedParameter& parameter : parameters) {
    gradients.push_back(parameter.weight.grad());
  }
  const torch::Tensor length =
      torch::stack(at::_foreach_norm(gradients)).norm();
  const torch::Tensor factor =
      (length + 1e-6).reciprocal().mul_(longest).clamp_max_(1);
  for (torch::Tensor& gradient : gradients) {
    gradient.mul_(factor);
  }
}

torch::Tensor AddL2(const std::vector<OptimizedParameter>& parameters,
                    const std::vector<torch::Tensor>& gradients,
                    double weight_decay, const torch::Tensor& like) {
  std::vector<torch::Tensor> decayed;
  std::vector<torch::Tensor> decayed_gradients;
  std::vector<torch::Tensor> norms;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const OptimizedParameter& parameter = parameters[i];
    if (!parameter.decayed) {
      continue;
    }
    if (parameter.decay_factor == 1) {
      decayed.push_back(parameter.weight);
      decayed_gradients.push_back(gradients[i]);
      continue;
    }
    norms.push_back(parameter.weight.norm() *
                    std::sqrt(parameter.decay_factor));
    gradients[i].add_(parameter.weight, parameter.DecayOf(weight_decay));
  }
  if (!decayed.empty()) {
    const std::vector<torch::Tensor> more = at::_foreach_norm(decayed);
    norms.insert(norms.end(), more.begin(), more.end());
    at::_foreach_add_(decayed_gradients, decayed, weight_decay);
  }
  return norms.empty()
             ? torch::zeros({}, like.options())
             : torch::stack(norms).square().sum() * (weight_decay / 2);
}

std::vector<torch::Tensor> ZerosLike(
    const std::vector<OptimizedParameter>& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> zeros;
  zeros.reserve(parameters.size());
  for (const OptimizedParameter& parameter : parameters) {
    zeros.push_back(torch::zeros_like(parameter.weight));
  }
  return zeros;
}

NamedTensors Named(const std::vector<OptimizedParameter>& parameters,
                   const std::vector<torch::Tensor>& tensors,
                   const std::string& suffix) {
  NamedTensors named;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    named.emplace_back(parameters[i].name + suffix, tensors[i]);
  }
  return named;
}

NamedTensors NamedMoments(const std::vector<OptimizedParameter>& parameters,
                          const std::vector<torch::Tensor>& means,
                          const std::vector<torch::Tensor>& squares) {
  NamedTensors moments = Named(parameters, means, "/m");
  const NamedTensors second = Named(parameters, squares, "/v");
  moments.insert(moments.end(), second.begin(), second.end());
  return moments;
}

torch::Device DeviceOf(const std::vector<OptimizedParameter>& parameters) {
  return parameters.empty() ? torch::kCPU : parameters[0].weight.device();
}

OptimizerPass::OptimizerPass(const std::vector<OptimizedParameter>& parameters)
    : parameters_(parameters.size()) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t count = parameters[i].weight.numel();
    for (std::int64_t begin = 0; begin < count; begin += kStretch) {
      stretches_.push_back({i, begin, std::min(begin + kStretch, count)});
    }
  }
  results_.resize(stretches_.size());
}

void OptimizerPass::Run(const std::function<double(const Stretch&)>& work) {
  at::parallel_for(0, static_cast<std::int64_t>(stretches_.size()), 1,
                   [&](std::int64_t first, std::int64_t last) {
                     for (auto i = static_cast<std::size_t>(first);
                          i < static_cast<std::size_t>(last); ++i) {
                       results_[i] = work(stretches_[i]);
                     }
                   });
}

double OptimizerPass::Sum() const {
  return std::accumulate(results_.begin(), results_.end(), 0.0);
}

std::vector<double> OptimizerPass::SumsByParameter() const {
  std::vector<double> sums(parameters_);
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    sums[stretches_[i].parameter] += results_[i];
  }
  return sums;
}

PassOptimizer::PassOptimizer(PassSetup setup)
    : parameters_(std::move(setup.parameters)),
      options_(std::move(setup.options)),
      pass_(parameters_),
      passes_(setup.kernels == Kernels::kFastest &&
              std::all_of(parameters_.begin(), parameters_.end(),
                          [](const OptimizedParameter& parameter) {
                            return parameter.weight.is_cpu();
                          })) {}

torch::Tensor PassOptimizer::L2OfPass() const {
  return torch::scalar_tensor(options_.weight_decay / 2 * pass_.Sum(),
                              torch::kFloat);
}

torch::Tensor PassOptimizer::Step(const torch::Tensor& rate) {
  const torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = TakeGradients(parameters_);
  CountStep();
  // On the CPU the rate is in the host's memory and can be read.
  return passes_ ? StepInPasses(gradients, *rate.data_ptr<float>())
                 : StepWithLibrary(gradients, rate);
}

// The host does not know whether the step is refused: the step runs, and what
// it changed is set back on the device.
torch::Tensor PassOptimizer::StepUnless(const torch::Tensor& refused,
                                        const torch::Tensor& rate) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> live;
  for (const OptimizedParameter& parameter : parameters_) {
    live.push_back(parameter.weight.detach());
  }
  for (const auto& [name, tensor] : State()) {
    live.push_back(tensor);
  }
  std::vector<torch::Tensor> kept;
  kept.reserve(live.size());
  for (const torch::Tensor& tensor : live) {
    kept.push_back(tensor.clone());
  }
  torch::Tensor l2 = Step(rate);
  const torch::Tensor keeps = refused.ne(0);
  for (std::size_t i = 0; i < live.size(); ++i) {
    live[i].copy_(torch::where(keeps, kept[i], live[i]));
  }
  return l2;
}

}  // namespace infeed
