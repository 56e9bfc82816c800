#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/bounded_queue.h"
#include "pipeline/memory/batch_content.h"
#include "pipeline/memory/batch_memory.h"
#include "pipeline/memory/batch_windows.h"
#include "pipeline/memory/page_memory.h"
#include "preprocess/resize/side.h"

namespace infeed {

// A place in the stream of samples: with the seed and the data set it says all
// about what comes next. position counts in global samples of the epoch;
// past_epochs are those that the stream had before this one, for `repeat`: none
// where it begins.
struct StreamPosition {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;
  std::uint32_t past_epochs = 0;

  friend bool operator==(const StreamPosition&,
                         const StreamPosition&) = default;
};

// One batch: plain memory, filled slot by slot; unspecified until then. Owns
// the memory, whose three parts are each aligned to 64 bytes. One thread at a
// time; different slots may be filled at once.
class Batch {
 public:
  // kernel: of windows. Requires: both > 0. Throws std::bad_alloc, and what
  // memory.pin throws.
  Batch(int size, int image_size, const BatchMemory& memory = {},
        BatchContent content = BatchContent::kPixels,
        ResizeKernel kernel = ResizeKernel::kBicubic);
  ~Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  Batch(Batch&&) = default;
  // Would give the old memory back before it is unpinned.
  Batch& operator=(Batch&&) = delete;

  // What the memory of such a batch takes up.
  [[nodiscard]] static std::int64_t MemoryBytes(
      int size, int image_size, BatchContent content = BatchContent::kPixels);

  // [size, image_size, image_size], each R << 24 | G << 16 | B << 8; of
  // choices [size], labels and weights mean nothing then; of windows those that
  // are in use.
  [[nodiscard]] std::span<std::uint32_t> pixels() {
    return windows_ ? windows_->used() : pixels_;
  }
  [[nodiscard]] std::span<const std::uint32_t> pixels() const {
    return windows_ ? windows_->used() : pixels_;
  }
  // Where these are; null: there are none.
  [[nodiscard]] BatchWindows* windows() { return windows_.get(); }
  [[nodiscard]] const BatchWindows* windows() const { return windows_.get(); }
  // [image_size, image_size] of one slot; not of windows.
  [[nodiscard]] std::span<std::uint32_t> slot_pixels(int slot);
  // [size]; from 0, or -1 in a slot of weight 0.
  [[nodiscard]] std::span<std::int32_t> labels() { return labels_; }
  [[nodiscard]] std::span<const std::int32_t> labels() const { return labels_; }
  // [size]; 1, or 0 for a slot that loss, metrics and counts leave out.
  [[nodiscard]] std::span<float> weights() { return weights_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int image_size() const { return image_size_; }
  [[nodiscard]] BatchContent content() const { return content_; }

  // A black image, label -1, weight 0.
  void BlankSlot(int slot);

  // Where the stream goes on after this batch: what a checkpoint stores once
  // the batch is consumed.
  StreamPosition next;

 private:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): unused, or set.
  struct Unpin {
    BatchMemory::Hook unpin;
    std::size_t bytes;
    void operator()(std::byte* memory) const { unpin({memory, bytes}); }
  };

  int size_;
  int image_size_;
  BatchContent content_;
  PageMemory memory_;
  std::unique_ptr<std::byte, Unpin> pinned_;  // After memory_: goes first.
  std::span<std::uint32_t> pixels_;
  std::span<std::int32_t> labels_;
  std::span<float> weights_;
  std::unique_ptr<BatchWindows> windows_;
};

// Gives a batch back to its pool; frees it when that is closed, or there is
// none.
struct BatchReturn {
  std::shared_ptr<BoundedQueue<std::unique_ptr<Batch>>> pool = {};
  void operator()(Batch* batch) const;
};

// A batch on loan: goes back to its pool when the handle goes.
using BatchHandle = std::unique_ptr<Batch, BatchReturn>;

// A fixed number of batches: the bound on what the pipeline holds. Owns those
// that are not on loan. Handles may outlive the pool. Thread-safe.
class BatchPool {
 public:
  // Requires: all > 0. Throws as Batch does.
  BatchPool(int count, int size, int image_size, const BatchMemory& memory = {},
            BatchContent content = BatchContent::kPixels,
            ResizeKernel kernel = ResizeKernel::kBicubic);

  // Waits for a free batch; nullptr after Close().
  [[nodiscard]] BatchHandle Take();

  // How many are not on loan.
  [[nodiscard]] std::int64_t free() const {
    return static_cast<std::int64_t>(free_->size());
  }

  // Frees what is in the pool and wakes Take(); batches on loan are freed as
  // their handles go.
  void Close() { free_->Cancel(); }

 private:
  using FreeQueue = BoundedQueue<std::unique_ptr<Batch>>;
  std::shared_ptr<FreeQueue> free_;
};

}  // namespace infeed
