#include "trainer/loop/average.h"

#include <algorithm>
#include <utility>

namespace infeed {

double MovingAverageDecay(std::int64_t updates, double decay) {
  const auto n = static_cast<double>(updates);
  return std::min(decay, (1 + n) / (10 + n));
}

MovingAverage::MovingAverage(NamedTensors live) : live_(std::move(live)) {
  for (const auto& [name, tensor] : live_) {
    averages_.push_back(tensor.detach().clone());
  }
}

void MovingAverage::Restart() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    averages_[i].copy_(live_[i].second);
  }
}

void MovingAverage::Update(const torch::Tensor& newest) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    averages_[i].lerp_(live_[i].second, newest);
  }
}

NamedTensors MovingAverage::State() const {
  NamedTensors state;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    state.emplace_back(live_[i].first + "/average", averages_[i]);
  }
  return state;
}

MovingAverage::Scope::Scope(const MovingAverage& average)
    : live_(average.live_) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    torch::Tensor live = live_[i].second;
    kept_.push_back(live.detach().clone());
    live.copy_(average.averages_[i]);
  }
}

MovingAverage::Scope::~Scope() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    torch::Tensor live = live_[i].second;
    live.copy_(kept_[i]);
  }
}

}  // namespace infeed
