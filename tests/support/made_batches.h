#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/memory/batch.h"

namespace infeed {

using FillBatch = std::function<void(Batch& batch, std::int64_t number)>;

// A stream of what a function returns, without a pipeline or a pool.
struct MadeStream final : BatchStream {
  explicit MadeStream(std::function<BatchHandle()> next_batch)
      : next(std::move(next_batch)) {}

  [[nodiscard]] BatchHandle Next() override { return next(); }
  void Stop() override {
    if (stop) {
      stop();
    }
  }
  [[nodiscard]] StreamPosition position() const override { return start; }
  [[nodiscard]] PipelineStats stats() const override { return {}; }
  [[nodiscard]] std::int64_t memory_bytes() const override { return 0; }

  std::function<BatchHandle()> next;
  std::function<void()> stop;
  StreamPosition start = {};
};

// A stream of made batches: fill is called on blank batches numbered from 0.
// After count batches it ends. Batch i is at position {0, i * size}.
inline std::shared_ptr<MadeStream> MadeBatches(std::int64_t count, int size,
                                               const ImageSize& image_size,
                                               FillBatch fill) {
  auto made = std::make_shared<std::int64_t>(0);
  return std::make_shared<MadeStream>([=]() -> BatchHandle {
    if (*made == count) {
      return nullptr;
    }
    BatchHandle batch(new Batch({.size = size, .image_size = image_size}));
    for (int slot = 0; slot < size; ++slot) {
      batch->BlankSlot(slot);
    }
    fill(*batch, *made);
    ++*made;
    batch->next = {.epoch = 0, .position = *made * size};
    return batch;
  });
}

// Images that a small network can tell apart at a glance: each has one of
// `classes` colours, with a little noise that depends on (number, slot).
inline void FillWithColours(Batch& batch, std::int64_t number, int classes) {
  for (int slot = 0; slot < batch.size(); ++slot) {
    const auto serial =
        static_cast<std::uint32_t>(number * batch.size() + slot);
    const std::uint32_t label = serial * 7 % static_cast<unsigned>(classes);
    std::uint32_t state = serial * 2654435761U + 1;
    for (std::uint32_t& pixel : batch.slot_pixels(slot)) {
      state = state * 1664525U + 1013904223U;
      const std::uint32_t noise = state >> 27;
      const std::uint32_t level =
          220 * (label + 1) / static_cast<unsigned>(classes);
      pixel = (level + noise) << 24 | (250 - level) << 16 | (noise * 4) << 8;
    }
    batch.labels()[static_cast<std::size_t>(slot)] =
        static_cast<std::int32_t>(label);
    batch.weights()[static_cast<std::size_t>(slot)] = 1;
  }
}

// Batches [first, first + count) of them.
inline std::shared_ptr<MadeStream> ColourBatches(std::int64_t count, int size,
                                                 const ImageSize& image_size,
                                                 int classes,
                                                 std::int64_t first = 0) {
  return MadeBatches(count, size, image_size,
                     [=](Batch& batch, std::int64_t number) {
                       FillWithColours(batch, first + number, classes);
                     });
}

}  // namespace infeed
