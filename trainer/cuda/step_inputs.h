#pragma once

#include <cstdint>

#include <torch/types.h>

#include "trainer/feed/step_record.h"
#include "trainer/loop/step.h"

namespace infeed {

// The inputs of a loop's steps in a GPU's memory: a table with a row for each
// step, and a clock with the current step. The step copies its row to a fixed
// address, so that a captured step reads its own inputs.
//
//   host table ► device table [steps, columns] ─ row clock.index ► row
//
// One thread at a time.
class CudaStepInputs {
 public:
  explicit CudaStepInputs(const torch::Device& device);

  // Copies a loop's inputs, in the current stream, and sets the clock to its
  // first step. host: the inputs of all its steps, on the CPU. Returns whether
  // addresses have changed: captured graphs are invalid then. Requires: the
  // previous copy has ended.
  [[nodiscard]] bool Load(const StepInputs& host, std::int64_t first_step);

  // Copies, in the current stream, the row of the current step, and returns
  // views of the fixed address.
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
