#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bounded_queue.h"
#include "base/owner_process.h"
#include "pipeline/memory/batch.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// The state that a pool shares with the handles of its batches, which may
// outlive it.
struct PoolState {
  explicit PoolState(std::size_t count) : free(count) {}

  BoundedQueue<std::unique_ptr<Batch>> free;
  std::atomic<int> lent{0};  // batches that Lend() gave out and are not back
  OwnerProcess process;
};

// A fixed number of batches: this bounds the pipeline's memory. Owns the
// batches that are not on loan. Handles may outlive the pool. Thread-safe.
class BatchPool {
 public:
  // Requires: count > 0. Throws what Batch() throws.
  BatchPool(int count, const BatchSpec& spec, const BatchMemory& memory = {});

  // Waits for a free batch; nullptr after Close().
  [[nodiscard]] BatchHandle Take();

  // Makes a taken batch the consumer's: counts it as lent until its handle is
  // destroyed. If max_lent batches are lent already, returns a copy without a
  // pool instead, and the batch is free again; max_lent 0: never copies. One
  // thread at a time. Throws std::bad_alloc.
  [[nodiscard]] BatchHandle Lend(BatchHandle batch, int max_lent);

  // The memory of each batch that is not freed yet. It is mapped while a
  // pointer to it exists.
  [[nodiscard]] std::vector<std::shared_ptr<const PageMemory>> memory() const;

  // The number of batches not on loan.
  [[nodiscard]] std::int64_t free() const {
    return static_cast<std::int64_t>(state_->free.size());
  }

  // The number of batches that Lend() gave out and that are not back.
  [[nodiscard]] int lent() const {
    return state_->lent.load(std::memory_order_relaxed);
  }

  // Frees the pool's batches and wakes Take(); a batch on loan is freed when
  // its handle is destroyed.
  void Close() { state_->free.Cancel(); }

 private:
  std::shared_ptr<PoolState> state_;
  std::vector<std::weak_ptr<const PageMemory>> memory_;
};

}  // namespace infeed
