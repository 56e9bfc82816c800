#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace infeed {

// What the horizontal pass needs to know about four neighbouring pixels of the
// output, in the order in which they lie in memory. Weights are those of each
// pixel's first two and last two taps, four times over: a pixel has four
// samples, 0 B G R.
struct alignas(64) ColumnGroup {
  std::array<std::int16_t, 32> first_weights;
  std::array<std::int16_t, 32> last_weights;
  // Of each of the 4 x 4 samples the two bytes of its first taps, as offsets
  // from base; the bytes of its last taps are 6 further. Every other place,
  // and those of the samples 0, mean nothing. Set where is_near.
  std::array<std::uint8_t, 64> places;
  std::array<std::int32_t, 4> offsets;  // of first taps in the row, in bytes
  std::int32_t base;                    // the least of offsets
};

// The columns of a resize, groups of four; where size is no multiple of four,
// the last column fills the last group up. Offsets count from a row's first
// pixel and are -3 at least: a row is preceded by a copy of its first pixel and
// followed by two of its last.
class ResizeColumns {
 public:
  // Mirrored where flip is set. Requires: width, size > 0.
  void Set(int width, int size, bool flip);

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
