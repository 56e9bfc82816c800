#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "preprocess/resize/side.h"

namespace infeed {

// Where the taps of four neighbouring pixels of the output lie in a row, in the
// order in which the pixels lie in memory.
struct ColumnPlaces {
  // Of each of the 4 x 4 samples, 0 B G R of each pixel, the two bytes of its
  // first taps, as offsets from base; the bytes of the next two taps are 6
  // further. Every other place, and those of the samples 0, mean nothing. Set
  // where SetPlaces() says so.
  alignas(64) std::array<std::uint8_t, 64> places;
  std::array<std::int32_t, 4> offsets;  // of first taps in the row, in bytes
  std::int32_t base;                    // the least of offsets
};

// Sets base and places for offsets that ascend or descend. Returns false where
// the bytes of two taps at a time, up to `taps` of each pixel, do not all lie
// within 64.
bool SetPlaces(int taps, ColumnPlaces& columns);

// What the horizontal pass of four taps needs to know about four neighbouring
// pixels of the output. Weights are those of each pixel's first two and last
// two taps, four times over, once for each sample.
struct alignas(64) ColumnGroup {
  std::array<std::int16_t, 32> first_weights;
  std::array<std::int16_t, 32> last_weights;
  ColumnPlaces at;
};

// The columns of a resize, groups of four; where size is no multiple of four,
// the last column fills the last group up. Offsets count from a row's first
// pixel and are -3 at least: a row is preceded by a copy of its first pixel and
// followed by two of its last.
class ResizeColumns {
 public:
  // `size` columns of a side, mirrored where flip is set. Requires: a kernel of
  // four taps, size > 0, and the columns are among side.out_size.
  void Set(ResizeKernel kernel, const ResizeSide& side, int size, bool flip);

  [[nodiscard]] const std::vector<ColumnGroup>& groups() const {
    return groups_;
  }
  // Whether the bytes of each group's first taps lie within 64, and so do
  // those of its last taps.
  [[nodiscard]] bool is_near() const { return is_near_; }

 private:
  std::vector<ColumnGroup> groups_;
  bool is_near_ = false;
};

}  // namespace infeed
