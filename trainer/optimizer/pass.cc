#include "trainer/optimizer/pass.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/Parallel.h>

#include "trainer/optimizer/gradients.h"

namespace infeed {
namespace {

// Elements of a stretch: small enough to share among threads and to sum
// squares in float32, large enough to make its overhead vanish.
constexpr std::int64_t kStretch = 16384;

}  // namespace

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

}  // namespace infeed
