#include "pipeline/memory/batch_pool.h"

#include <optional>
#include <utility>

namespace infeed {

void BatchReturn::operator()(Batch* batch) const {
  if (pool && !pool->process.IsCurrent()) {
    return;  // In a fork() child the queue's lock may be held forever.
  }
  std::unique_ptr<Batch> returned(batch);
  if (!pool) {
    return;
  }
  if (is_lent) {
    pool->lent.fetch_sub(1, std::memory_order_relaxed);
  }
  pool->free.Push(std::move(returned));
}

BatchPool::BatchPool(int count, const BatchSpec& spec,
                     const BatchMemory& memory)
    : state_(std::make_shared<PoolState>(static_cast<std::size_t>(count))) {
  for (int i = 0; i < count; ++i) {
    auto batch = std::make_unique<Batch>(spec, memory);
    memory_.push_back(batch->memory());
    state_->free.Push(std::move(batch));
  }
}

std::vector<std::shared_ptr<const PageMemory>> BatchPool::memory() const {
  std::vector<std::shared_ptr<const PageMemory>> mapped;
  for (const std::weak_ptr<const PageMemory>& memory : memory_) {
    if (auto pages = memory.lock()) {
      mapped.push_back(std::move(pages));
    }
  }
  return mapped;
}

BatchHandle BatchPool::Take() {
  std::optional<std::unique_ptr<Batch>> batch = state_->free.Pop();
  if (!batch) {
    return nullptr;
  }
  // The handle shares the queue, so that it can outlive the pool; a closed
  // queue drops the batch, which frees it.
  return {batch->release(), BatchReturn{.pool = state_}};
}

BatchHandle BatchPool::Lend(BatchHandle batch, int max_lent) {
  if (max_lent > 0 &&
      state_->lent.load(std::memory_order_relaxed) >= max_lent) {
    return {batch->Clone().release(), BatchReturn{}};
  }
  batch.get_deleter().is_lent = true;
  state_->lent.fetch_add(1, std::memory_order_relaxed);
  return batch;
}

}  // namespace infeed
