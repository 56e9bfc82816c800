#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

#include "pipeline/memory/batch.h"
#include "trainer/feed/step_record.h"

namespace infeed {

// Pins the memory of batches, so that this GPU can copy from it while it
// computes, and the host does not wait. pin throws IoError if the system
// rejects it: it may limit locked memory (feed/optional_pinning.h).
[[nodiscard]] BatchMemory PinnedBatchMemory(int device);

// Pinned memory of the host that the device reads and writes, all 0 at first.
// Throws c10::Error.
class MappedBytes {
 public:
  explicit MappedBytes(std::size_t size);

  [[nodiscard]] void* host() const { return host_.get(); }
  [[nodiscard]] void* device() const { return device_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> host_;
  void* device_;  // the same memory, at its device address
};

// Values in such memory. Owns them.
template <typename T>
class Mapped {
 public:
  explicit Mapped(std::size_t count)
      : count_(count), bytes_(count * sizeof(T)) {
    std::uninitialized_value_construct_n(static_cast<T*>(bytes_.host()), count);
  }

  [[nodiscard]] std::span<T> host() const {
    return {static_cast<T*>(bytes_.host()), count_};
  }
  [[nodiscard]] T* device() const { return static_cast<T*>(bytes_.device()); }

 private:
  std::size_t count_;
  MappedBytes bytes_;
};

using MappedRecords = Mapped<StepRecord>;

}  // namespace infeed
