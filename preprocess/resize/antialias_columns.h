#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "preprocess/resize/antialias.h"
#include "preprocess/resize/columns.h"

namespace infeed {

// The weights of four taps of each of four neighbouring output pixels, in
// memory order: high parts and low parts, of the first two and of the last two
// taps, each repeated four times, once for each of a pixel's samples 0 B G R.
struct alignas(64) AntialiasWeights {
  std::array<std::array<std::int16_t, 32>, 2> high;
  std::array<std::array<std::int16_t, 32>, 2> low;
};

// The columns of an antialiased resize in groups of four; if size is not a
// multiple of four, the last column is repeated to fill the last group. All
// columns have the largest number of taps, rounded up to a multiple of four:
// surplus taps have weight 0 and may lie behind the row's end. Its memory is
// reused.
class AntialiasColumns {
 public:
  // Requires: IsAntialiased(kernel).
  explicit AntialiasColumns(ResizeKernel kernel) : axis_(kernel) {}

  // `size` columns of a side, mirrored if flip is set. Requires: size > 0, and
  // the columns are within side.out_size.
  void Set(const ResizeSide& side, int size, bool flip);

  [[nodiscard]] int groups() const { return static_cast<int>(places_.size()); }
  [[nodiscard]] const ColumnPlaces& places(int group) const {
    return places_[static_cast<std::size_t>(group)];
  }
  // The group's steps() weights: of taps 0..3, 4..7 and so on.
  [[nodiscard]] const AntialiasWeights* weights(int group) const {
    return weights_.data() + std::ptrdiff_t{group} * steps_;
  }
  [[nodiscard]] int steps() const { return steps_; }

  // Whether the taps of each group lie within 64 bytes.
  [[nodiscard]] bool is_near() const { return is_near_; }

  // How many bytes behind a row's last pixel may be read.
  [[nodiscard]] std::ptrdiff_t slack() const;

 private:
  void SetPixel(const AntialiasTaps& taps, int group, int pixel);

  AntialiasAxis axis_;
  std::vector<ColumnPlaces> places_;
  std::vector<AntialiasWeights> weights_;
  int steps_ = 1;
  bool is_near_ = false;
};

}  // namespace infeed
