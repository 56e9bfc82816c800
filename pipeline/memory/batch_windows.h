#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/memory/resize_window.h"
#include "preprocess/resize/side.h"

namespace infeed {

// The crop windows of a batch, from which a device makes the images: their
// pixels, one window after the other in the order in which they are taken, and
// the place of each slot's window.
//
//   pixels   [ slot 2's  | slot 0's   | slot 1's | ...      free      ]
//            <--------------- used() -----------> <-- up to capacity -->
//
// Each slot takes at least the room of its image, and always gets that much;
// the capacity is kWindowShare times the images' pixels. When too little room
// is left for a window, the thread that fills the slot resizes it: the finished
// image is then the window, and the device's resize leaves it unchanged. So the
// images do not depend on which windows found room.
//
// Room for different slots may be taken at the same time; everything else from
// one thread at a time.
class BatchWindows {
 public:
  static constexpr int kWindowShare = 3;

  // Pixels that a batch of `size` images has. Requires: both > 0.
  [[nodiscard]] static std::int64_t Capacity(int size, int image_size);

  // pixels: Capacity() of them; windows: one per slot. The caller owns both;
  // they must outlive this object. Requires: a kernel of four taps.
  BatchWindows(std::span<std::uint32_t> pixels, std::span<ResizeWindow> windows,
               int image_size, ResizeKernel kernel);

  // Frees all room.
  void Clear();

  // Gives a slot room for its window and returns it; empty: too little is left.
  // May be called again for a slot, for the substitute of a record that failed.
  // Requires: sizes > 0.
  [[nodiscard]] std::span<std::uint32_t> TakeWindow(int slot, int width,
                                                    int height, bool mirrored);
  // Gives a slot room for its finished image.
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
  // The kernel that resizes the windows to images.
  [[nodiscard]] ResizeKernel kernel() const { return kernel_; }

 private:
  // Returns whether the slot has or gets room for this many pixels.
  [[nodiscard]] bool Reserve(int slot, std::int64_t pixels);

  // A slot's room, in pixels; size 0: none yet.
  struct Room {
    std::int64_t first = 0;
    std::int64_t size = 0;
  };

  std::span<std::uint32_t> pixels_;
  std::span<ResizeWindow> windows_;
  int image_size_;
  std::int64_t image_pixels_;  // each slot's minimum room
  ResizeKernel kernel_;
  std::vector<Room> rooms_;             // by slot
  std::atomic<std::int64_t> used_{0};   // pixels
  std::atomic<std::int64_t> spare_{0};  // pixels beyond the slots' minimum
};

}  // namespace infeed
