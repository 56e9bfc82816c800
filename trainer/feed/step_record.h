#pragma once

#include <atomic>
#include <cstdint>

namespace infeed {

// The current step, in the device's memory. The host sets it before a loop; the
// device advances it as each step ends.
struct StepClock {
  std::int64_t first = 0;  // the loop's first step, from 0
  std::int64_t index = 0;  // of the current step in the loop, from 0
};

// The result of a step, which the device writes into a ring in the host's
// memory, `done` last: once the host sees `done`, the other members are
// written.
struct alignas(32) StepRecord {
  std::int64_t done = 0;  // steps done with this one; 0: nothing written yet
  float loss = 0;
  float top_1 = 0;
  float rate = 0;
  float images = 0;         // images that count
  float loss_scale = 0;     // StepResult's
  float skipped_steps = 0;  // StepResult's, a whole number
};

// Whether the record is of the step after which `done` steps are done. If so,
// its other members may be read until the device writes the slot again.
[[nodiscard]] inline bool IsWritten(StepRecord& record, std::int64_t done) {
  return std::atomic_ref<std::int64_t>(record.done)
             .load(std::memory_order_acquire) == done;
}

}  // namespace infeed
