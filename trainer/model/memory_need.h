#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// What a run takes of memory at its peak, estimated before it starts. Of each
// process, unless it says otherwise.
struct MemoryNeed {
  std::string step;             // what is done with a batch: "a training step"
  std::string batch_parameter;  // that its size has: "train_batch_size"
  int images = 0;               // of a batch
  int image_size = 0;
  bool in_bfloat16 = false;
  bool on_gpu = false;
  bool in_parts = false;    // gradient_accumulation_steps applies
  std::int64_t device = 0;  // bytes of the model and a step
  std::int64_t input = 0;   // bytes that the input may take; 0: not known yet
  int processes = 1;        // that share this machine

  // Bytes that they all take of the machine's own memory.
  [[nodiscard]] std::int64_t of_machine() const {
    return processes * (input + (on_gpu ? 0 : device));
  }
};

// Bytes that are there; machine 0: not known.
struct MemoryThere {
  std::int64_t machine = 0;    // in all, or as the control group allows
  std::int64_t available = 0;  // of them
  std::int64_t gpu = 0;        // that the GPU has free; 0: none is used
};

// "about 640 MiB for a training step of 64 images of 224 x 224 pixels in
// float32, up to 244 MiB for the input; 7900 MiB in this machine, 6100 MiB of
// them free".
[[nodiscard]] std::string MemoryNeedText(const MemoryNeed& need,
                                         const MemoryThere& there);

// Whether it is more than there can be: than the machine has in all, or than
// the GPU has free.
[[nodiscard]] bool NeverFits(const MemoryNeed& need, const MemoryThere& there);

// Why the run may not fit into what is free, and what to lower; "" where it
// does.
[[nodiscard]] std::string MemoryWarning(const MemoryNeed& need,
                                        const MemoryThere& there);

// The same once it did not. refused: what was asked for in vain, "3211 MiB
// more".
[[nodiscard]] std::string MemoryRanOut(const MemoryNeed& need,
                                       const MemoryThere& there,
                                       const std::string& refused);

}  // namespace infeed
