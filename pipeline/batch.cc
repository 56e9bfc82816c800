#include "pipeline/batch.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// A cache line, and what the widest SIMD store wants.
constexpr std::size_t kAlignment = 64;

constexpr std::size_t RoundUp(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void Batch::Free::operator()(void* memory) const { std::free(memory); }

Batch::Batch(int size, int image_size) : size_(size), image_size_(image_size) {
  Check(size > 0 && image_size > 0, "a batch holds something");
  const std::size_t count = static_cast<std::size_t>(size);
  const std::size_t side = static_cast<std::size_t>(image_size);
  const std::size_t pixels = count * side * side;
  const std::size_t labels_at = RoundUp(pixels * sizeof(std::uint32_t));
  const std::size_t weights_at =
      labels_at + RoundUp(count * sizeof(std::int32_t));
  memory_.reset(std::aligned_alloc(
      kAlignment, weights_at + RoundUp(count * sizeof(float))));
  if (memory_ == nullptr) {
    throw std::bad_alloc();
  }
  std::byte* const start = static_cast<std::byte*>(memory_.get());
  pixels_ = {reinterpret_cast<std::uint32_t*>(start), pixels};
  labels_ = {reinterpret_cast<std::int32_t*>(start + labels_at), count};
  weights_ = {reinterpret_cast<float*>(start + weights_at), count};
}

std::span<std::uint32_t> Batch::slot_pixels(int slot) {
  Check(slot >= 0 && slot < size_, "the slot is in the batch");
  const std::size_t pixels = pixels_.size() / labels_.size();
  return pixels_.subspan(static_cast<std::size_t>(slot) * pixels, pixels);
}

void Batch::BlankSlot(int slot) {
  std::ranges::fill(slot_pixels(slot), 0U);
  labels_[static_cast<std::size_t>(slot)] = -1;
  weights_[static_cast<std::size_t>(slot)] = 0;
}

BatchPool::BatchPool(int count, int size, int image_size)
    : free_(std::make_shared<FreeQueue>(static_cast<std::size_t>(count))) {
  for (int i = 0; i < count; ++i) {
    free_->Push(std::make_unique<Batch>(size, image_size));
  }
}

BatchHandle BatchPool::Take() {
  std::optional<std::unique_ptr<Batch>> batch = free_->Pop();
  if (!batch) {
    return nullptr;
  }
  // The handle shares the queue, so that it can outlive the pool; a closed
  // queue drops the batch, which frees it.
  return BatchHandle(batch->release(), [free = free_](Batch* returned) {
    free->Push(std::unique_ptr<Batch>(returned));
  });
}

}  // namespace infeed
