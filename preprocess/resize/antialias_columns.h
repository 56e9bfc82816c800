#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/resize/antialias.h"
#include "preprocess/resize/columns.h"

namespace infeed {

// Of four taps each of four neighbouring pixels of the output, in the order in
// which the pixels lie in memory: the weights' high parts and their low ones,
// of the first two taps and of the last two, four times over, once for each of
// a pixel's samples 0 B G R.
struct alignas(64) AntialiasWeights {
  std::array<std::array<std::int16_t, 32>, 2> high;
  std::array<std::array<std::int16_t, 32>, 2> low;
};

// The columns of an antialiased resize in groups of four; where size is no
// multiple of four, the last column fills the last group up. All have as many
// taps as the one that has most, in steps of four: taps that a column has not
// have no weight and may lie behind the row's end. Its memory is kept.
class AntialiasColumns {
 public:
  // `size` columns of a side, mirrored where flip is set. Requires: size > 0,
  // and the columns are among side.out_size.
  void Set(const ResizeSide& side, int size, bool flip);

  [[nodiscard]] int groups() const { return static_cast<int>(places_.size()); }
  [[nodiscard]] const ColumnPlaces& places(int group) const {
    return places_[static_cast<std::size_t>(group)];
  }
  // steps() of them: of taps 0..3, 4..7 and so on.
  [[nodiscard]] const AntialiasWeights* weights(int group) const {
    return weights_.data() + std::ptrdiff_t{group} * steps_;
  }
  [[nodiscard]] int steps() const { return steps_; }

  // Whether all bytes of a group's taps lie within 64.
  [[nodiscard]] bool is_near() const { return is_near_; }

  // How far behind a row's last pixel may be read.
  [[nodiscard]] std::ptrdiff_t slack() const;

 private:
  void SetPixel(const AntialiasTaps& taps, int group, int pixel);

  AntialiasAxis axis_{1, 1};
  std::vector<ColumnPlaces> places_;
  std::vector<AntialiasWeights> weights_;
  int steps_ = 1;
  bool is_near_ = false;
};

}  // namespace infeed
