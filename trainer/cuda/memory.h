#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

#include "pipeline/memory/batch_memory.h"
#include "trainer/feed/step_record.h"

namespace infeed {

// Pins the memory of batches, so that this GPU can copy from it while it
// computes, and the host does not wait. pin throws IoError if the system
// rejects it: it may limit locked memory (feed/optional_pinning.h).
[[nodiscard]] BatchMemory PinnedBatchMemory(int device);

// Records in pinned host memory, which the device writes. Owns them; all 0 at
// first. Throws c10::Error.
class MappedRecords {
 public:
  explicit MappedRecords(std::size_t count);

  [[nodiscard]] std::span<StepRecord> host() const {
    return {host_.get(), count_};
  }
  [[nodiscard]] StepRecord* device() const { return device_; }

 private:
  struct Free {
    void operator()(StepRecord* records) const;
  };
  std::size_t count_;
  std::unique_ptr<StepRecord, Free> host_;
  StepRecord* device_;  // the same memory, at its device address
};

}  // namespace infeed
