#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/memory/batch.h"
#include "preprocess/pixels/pixel_place.h"

namespace infeed {

// A slot of a batch, as the destination of its sample's pixels. The batch must
// outlive it. One thread at a time.
class SlotPlace final : public PixelPlace {
 public:
  // Requires: the batch holds pixels or windows and has the slot.
  SlotPlace(Batch& batch, int slot) : batch_(batch), slot_(slot) {}

  [[nodiscard]] std::span<std::uint32_t> TakeWindow(int width, int height,
                                                    bool mirrored) override {
    BatchWindows* const windows = batch_.windows();
    return windows == nullptr
               ? std::span<std::uint32_t>()
               : Taken(windows->TakeWindow(slot_, width, height, mirrored));
  }
  [[nodiscard]] std::span<std::uint32_t> TakeImage() override {
    BatchWindows* const windows = batch_.windows();
    return Taken(windows == nullptr ? batch_.slot_pixels(slot_)
                                    : windows->TakeImage(slot_));
  }

  // Bytes that the sample took in the slot.
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::span<std::uint32_t> Taken(std::span<std::uint32_t> pixels) {
    size_bytes_ = pixels.size_bytes();
    return pixels;
  }

  Batch& batch_;
  int slot_;
  std::size_t size_bytes_ = 0;
};

}  // namespace infeed
