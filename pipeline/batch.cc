#include "pipeline/batch.h"

#include <algorithm>
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

// Where the parts of a batch lie.
struct Layout {
  std::size_t pixels;
  std::size_t labels_at;
  std::size_t weights_at;
  std::size_t bytes;

  Layout(int size, int image_size) {
    Check(size > 0 && image_size > 0, "a batch holds something");
    const std::size_t count = static_cast<std::size_t>(size);
    const std::size_t side = static_cast<std::size_t>(image_size);
    pixels = count * side * side;
    labels_at = RoundUp(pixels * sizeof(std::uint32_t));
    weights_at = labels_at + RoundUp(count * sizeof(std::int32_t));
    bytes = weights_at + RoundUp(count * sizeof(float));
  }
};

// A choice is a word, as a pixel is.
int SideOf(BatchContent content, int image_size) {
  return content == BatchContent::kChoices ? 1 : image_size;
}

}  // namespace

Batch::Batch(int size, int image_size, const BatchMemory& memory,
             BatchContent content)
    : size_(size),
      image_size_(image_size),
      content_(content),
      memory_(Layout(size, SideOf(content, image_size)).bytes) {
  const Layout layout(size, SideOf(content, image_size));
  const std::size_t count = static_cast<std::size_t>(size);
  std::byte* const start = memory_.bytes().data();
  if (memory.pin) {
    memory.pin(memory_.bytes());
    pinned_ = {start, Unpin{memory.unpin, memory_.bytes().size()}};
  }
  pixels_ = {reinterpret_cast<std::uint32_t*>(start), layout.pixels};
  labels_ = {reinterpret_cast<std::int32_t*>(start + layout.labels_at), count};
  weights_ = {reinterpret_cast<float*>(start + layout.weights_at), count};
}

std::int64_t Batch::MemoryBytes(int size, int image_size) {
  return static_cast<std::int64_t>(
      PageMemory::RoundUp(Layout(size, image_size).bytes));
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

void BatchReturn::operator()(Batch* batch) const {
  std::unique_ptr<Batch> returned(batch);
  if (pool) {
    pool->Push(std::move(returned));
  }
}

BatchPool::BatchPool(int count, int size, int image_size,
                     const BatchMemory& memory)
    : free_(std::make_shared<FreeQueue>(static_cast<std::size_t>(count))) {
  for (int i = 0; i < count; ++i) {
    free_->Push(std::make_unique<Batch>(size, image_size, memory));
  }
}

BatchHandle BatchPool::Take() {
  std::optional<std::unique_ptr<Batch>> batch = free_->Pop();
  if (!batch) {
    return nullptr;
  }
  // The handle shares the queue, so that it can outlive the pool; a closed
  // queue drops the batch, which frees it.
  return {batch->release(), BatchReturn{free_}};
}

}  // namespace infeed
