#pragma once

#include <cstdint>
#include <string>

#include "preprocess/pixels/image_size.h"
#include "trainer/model/options.h"

namespace infeed {

// Estimate of a run's peak memory, made before it starts. Values are per
// process unless a comment says otherwise.
struct MemoryNeed {
  std::string step;             // the operation: "a training step"
  std::string batch_parameter;  // the parameter of the batch size
  int images = 0;               // of a batch
  ImageSize image_size = 0;
  Precision precision = Precision::kFloat32;
  bool on_gpu = false;
  bool in_parts = false;    // gradient_accumulation_steps applies
  std::int64_t device = 0;  // bytes of the model and one step
  std::int64_t input = 0;   // bytes that the input may take; 0: not known yet
  int processes = 1;        // processes that share this machine

  // Bytes of the machine's own memory that all its processes take.
  [[nodiscard]] std::int64_t of_machine() const {
    return processes * (input + (on_gpu ? 0 : device));
  }
};

// Memory of the machine in bytes; machine 0: not known.
struct MemoryThere {
  std::int64_t machine = 0;    // total, or the control group's limit
  std::int64_t available = 0;  // free part of it
  std::int64_t gpu = 0;        // free memory of the GPU; 0: no GPU is used
};

// "about 640 MiB for a training step of 64 images of 224 x 224 pixels in
// float32, up to 244 MiB for the input; 7900 MiB in this machine, 6100 MiB of
// them free".
[[nodiscard]] std::string MemoryNeedText(const MemoryNeed& need,
                                         const MemoryThere& there);

// Whether the run needs more than the machine's total memory, or than the GPU's
// free memory.
[[nodiscard]] inline bool NeverFits(const MemoryNeed& need,
                                    const MemoryThere& there) {
  return there.machine > 0 && (need.of_machine() > there.machine ||
                               (need.on_gpu && need.device > there.gpu));
}

// Why the run may not fit into the free memory, and which parameters to lower;
// "" where it fits.
[[nodiscard]] std::string MemoryWarning(const MemoryNeed& need,
                                        const MemoryThere& there);

// MemoryWarning() after memory ran out. refused: the failed allocation, "3211
// MiB more".
[[nodiscard]] std::string MemoryRanOut(const MemoryNeed& need,
                                       const MemoryThere& there,
                                       const std::string& refused);

}  // namespace infeed
