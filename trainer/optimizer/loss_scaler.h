#pragma once

#include <string_view>
#include <vector>

#include <torch/types.h>

#include "trainer/model/optimizer_options.h"
#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

// The names of its state begin with this. A run with another precision or
// loss_scale has more or fewer of them.
inline constexpr std::string_view kLossScalePrefix = "loss_scale/";

// The scale of a training's loss (LossScaleOptions), on the device. Each step:
//
//   Scaled(loss).backward()
//   refused = Unscale(parameters)
//   the optimizer's StepUnless(refused, rate)
//   Update(refused)
//
// Never waits for the device, and its tensors stay where they are, so that a
// step can be captured. On several ranks it is equal if the gradients are. One
// thread at a time.
class LossScaler {
 public:
  LossScaler(const LossScaleOptions& options, const torch::Device& device);

  [[nodiscard]] torch::Tensor Scaled(const torch::Tensor& loss) const {
    return loss * scale_;
  }

  // Divides the gradients by the scale, in place. Returns 1 if any of them was
  // not finite, else 0: float32, a scalar on the device. Requires: every
  // parameter has a gradient.
  [[nodiscard]] torch::Tensor Unscale(
      const std::vector<OptimizedParameter>& parameters) const;

  // Counts a step, and sets the scale for the next one.
  void Update(const torch::Tensor& refused);

  // Scalars: the current scale, float32; steps refused so far, int64.
  [[nodiscard]] const torch::Tensor& scale() const { return scale_; }
  [[nodiscard]] const torch::Tensor& skipped_steps() const {
    return skipped_steps_;
  }

  // To be saved and restored in place: skipped_steps, and for a dynamic scale
  // also scale and good_steps.
  [[nodiscard]] NamedTensors State() const;

 private:
  LossScaleOptions options_;
  torch::Tensor scale_;          // float32
  torch::Tensor good_steps_;     // int64: since the scale last changed
  torch::Tensor skipped_steps_;  // int64
};

}  // namespace infeed
