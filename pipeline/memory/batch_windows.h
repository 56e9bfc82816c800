#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/memory/resize_window.h"
#include "preprocess/resize/side.h"

namespace infeed {

// The crop windows of a batch whose images a device makes: their pixels, one
// window behind the other in the order in which they are taken, and where each
// slot's lies.
//
//   pixels   [ slot 2's  | slot 0's   | slot 1's | ...      free      ]
//            <--------------- used() -----------> <-- up to capacity -->
//
// Each slot can have the room of its image, and takes no less; there are
// kWindowShare times as many pixels as that. A window for which too little is
// left is resized by who fills the slot: the image is a window then that a
// resize leaves as it is. So which of them are makes no difference to the
// images.
//
// Different slots may be taken at once; the rest is for one thread at a time.
class BatchWindows {
 public:
  static constexpr int kWindowShare = 3;

  // Pixels of a batch of so many images. Requires: both > 0.
  [[nodiscard]] static std::int64_t Capacity(int size, int image_size);

  // pixels: of Capacity(); windows: one for each slot. Both are whose memory
  // this is, and must outlive it. Requires: a kernel of four taps.
  BatchWindows(std::span<std::uint32_t> pixels, std::span<ResizeWindow> windows,
               int image_size, ResizeKernel kernel);

  // All is free again.
  void Clear();

  // Returns room for the window of a slot, which it has from now on; empty:
  // there is too little. A slot may be taken again, for what takes the place
  // of what failed. Requires: sizes > 0.
  [[nodiscard]] std::span<std::uint32_t> TakeWindow(int slot, int width,
                                                    int height, bool mirrored);
  // Room for its image.
  [[nodiscard]] std::span<std::uint32_t> TakeImage(int slot);
  // Makes the slot's image black.
  void Blank(int slot);

  // The pixels that have been taken.
  [[nodiscard]] std::span<std::uint32_t> used() const {
    return pixels_.first(
        static_cast<std::size_t>(used_.load(std::memory_order_relaxed)));
  }
  [[nodiscard]] std::span<const ResizeWindow> windows() const {
    return windows_;
  }
  // What makes images of them.
  [[nodiscard]] ResizeKernel kernel() const { return kernel_; }

 private:
  // Whether the slot has or gets room for so many pixels.
  [[nodiscard]] bool Reserve(int slot, std::int64_t pixels);

  // Where a slot's room is, in pixels; size 0: it has none yet.
  struct Room {
    std::int64_t first = 0;
    std::int64_t size = 0;
  };

  std::span<std::uint32_t> pixels_;
  std::span<ResizeWindow> windows_;
  int image_size_;
  std::int64_t image_pixels_;  // of a slot's least room
  ResizeKernel kernel_;
  std::vector<Room> rooms_;             // by slot
  std::atomic<std::int64_t> used_{0};   // pixels
  std::atomic<std::int64_t> spare_{0};  // beyond what each slot may have
};

}  // namespace infeed
