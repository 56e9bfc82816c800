#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

#include "pipeline/memory/batch_memory.h"
#include "trainer/feed/step_record.h"

namespace infeed {

// Pins the memory of batches, so that this GPU copies from it while it computes
// and the host does not wait. pin throws c10::Error where the system refuses:
// it may limit locked memory.
[[nodiscard]] BatchMemory PinnedBatchMemory(int device);

// Records in pinned memory of the host's that the device writes to. Owns them;
// all 0 at first. Throws c10::Error.
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
  StepRecord* device_;  // the same memory, as the device sees it
};

}  // namespace infeed
