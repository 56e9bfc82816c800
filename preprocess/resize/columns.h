#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "preprocess/resize/four_taps.h"
#include "preprocess/resize/side.h"

namespace infeed {

// The places in a row of the taps of four neighbouring output pixels, in memory
// order.
struct ColumnPlaces {
  // For each of the 4 x 4 samples, 0 B G R of each pixel, the two bytes of its
  // first two taps, as offsets from base; the bytes of the next two taps are 6
  // further. Every other place, and those of the samples 0, are unused. Valid
  // if SetPlaces() returned true.
  alignas(64) std::array<std::uint8_t, 64> places;
  std::array<std::int32_t, 4> offsets;  // of first taps in the row, in bytes
  std::int32_t base;                    // the smallest of offsets
};

// Sets base and places for ascending or descending offsets. Returns false if
// the bytes of two taps at a time, up to `taps` taps of each pixel, do not all
// lie within 64.
bool SetPlaces(int taps, ColumnPlaces& columns);

// The data that the horizontal four-tap pass needs for four neighbouring output
// pixels. Weights are those of each pixel's first two and last two taps,
// repeated four times, once for each sample.
struct alignas(64) ColumnGroup {
  std::array<std::int16_t, 32> first_weights;
  std::array<std::int16_t, 32> last_weights;
  ColumnPlaces at;
};

// The columns of a resize in groups of four; if size is not a multiple of four,
// the last column is repeated to fill the last group. Offsets count from a
// row's first pixel and are -3 at least: a row is preceded by a copy of its
// first pixel and followed by two of its last.
class ResizeColumns {
 public:
  // `size` columns of a side, mirrored if flip is set. Requires: a four-tap
  // kernel, size > 0, and the columns are within side.out_size.
  void Set(ResizeKernel kernel, const ResizeSide& side, int size, bool flip);

  [[nodiscard]] const std::vector<ColumnGroup>& groups() const {
    return groups_;
  }
  // Whether each group's first taps lie within 64 bytes, and its last taps,
  // too.
  [[nodiscard]] bool is_near() const { return is_near_; }

 private:
  std::vector<FourTaps> taps_;  // kept for its memory
  std::vector<ColumnGroup> groups_;
  bool is_near_ = false;
};

}  // namespace infeed
