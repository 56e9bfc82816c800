#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "trainer/optimizer/named_tensors.h"

namespace infeed {

// How much of the average an update keeps once `updates` are done (> 0): less
// at first, so that the initial weights are soon forgotten, as TensorFlow's
// ExponentialMovingAverage with a count of updates.
[[nodiscard]] double MovingAverageDecay(std::int64_t updates, double decay);

// The moving average of a model's tensors: parameters and moving statistics.
// Shares them with the model and owns the averages, which start at their
// values. One thread at a time.
class MovingAverage {
 public:
  // Requires: float32 tensors. None: there is no average.
  explicit MovingAverage(NamedTensors live);

  // The averages are the live values again.
  void Restart();

  // average = average + newest * (live - average); newest is of one element, on
  // the device.
  void Update(const torch::Tensor& newest);

  // Under the names NAME/average, to be saved and restored in place.
  [[nodiscard]] NamedTensors State() const;

  // Has the live tensors hold the averages while it lives.
  class Scope {
   public:
    explicit Scope(const MovingAverage& average);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const NamedTensors& live_;
    std::vector<torch::Tensor> kept_;
  };

 private:
  NamedTensors live_;
  std::vector<torch::Tensor> averages_;
};

}  // namespace infeed
