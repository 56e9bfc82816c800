#pragma once

#include <cstdint>

#include <torch/types.h>

#include "trainer/feed/step_record.h"
#include "trainer/loop/step.h"

namespace infeed {

// What the steps of a loop are told, in a GPU's memory: a table with a row for
// each step, and a clock that says which one is at hand. The step copies its
// row to a fixed place, so that a captured one finds its own.
//
//   host table ► device table [steps, columns] ─ row clock.index ► row
//
// One thread at a time.
class CudaStepInputs {
 public:
  explicit CudaStepInputs(const torch::Device& device);

  // Copies a loop's, in the stream that is current, and sets the clock to its
  // first step. host: of all its steps, on the CPU. Returns whether it lies
  // elsewhere now: what was captured is of no use then. Requires: what came
  // before has been copied.
  [[nodiscard]] bool Load(const StepInputs& host, std::int64_t first_step);

  // In the stream that is current: the row of the step at hand, as views of
  // the fixed place.
  [[nodiscard]] StepInputs Select() const;

  [[nodiscard]] StepClock* clock() const;

 private:
  [[nodiscard]] bool MakeRoom(std::int64_t steps, std::int64_t columns);

  torch::Device device_;
  torch::Tensor host_table_;  // float32 [steps, columns], pinned
  torch::Tensor table_;       // the same on the device
  torch::Tensor row_;         // float32 [columns]
  torch::Tensor host_clock_;  // int64 [2], pinned
  torch::Tensor clock_;       // the same on the device
};

}  // namespace infeed
