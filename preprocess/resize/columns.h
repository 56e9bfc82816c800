#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "preprocess/resize/antialias.h"
#include "preprocess/resize/four_taps.h"
#include "preprocess/resize/side.h"

namespace infeed {

// Units of work of the kernels of both passes.
inline constexpr int kPixelBytes = 3;
inline constexpr int kGroupPixels = 4;  // neighbours in an output row
inline constexpr int kGroups = 4;       // groups that the vertical pass takes
inline constexpr int kUnitPixels = kGroupPixels * kGroups;
inline constexpr int kVectorBytes = 64;  // bytes that a horizontal pass loads

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

// The data that the horizontal four-tap pass needs for sixteen neighbouring
// output pixels, in memory order.
struct alignas(64) ColumnGroup {
  // Weights of each pixel's first two and last two taps.
  std::array<std::int16_t, 2 * kUnitPixels> first_weights;
  std::array<std::int16_t, 2 * kUnitPixels> last_weights;
  // Each pixel's first two taps as bytes of a row, from the offset of its four
  // neighbours on, and from base on; the next two taps are 2 further. Before an
  // unused byte, 0x80. Valid if the taps are near.
  std::array<std::uint8_t, 4 * kUnitPixels> places;
  std::array<std::uint8_t, 4 * kUnitPixels> base_places;
  std::array<std::int32_t, kUnitPixels> firsts;  // of each pixel, in the row
  std::array<std::int32_t, kGroups> offsets;     // of four pixels: the smallest
  std::int32_t base;                             // the smallest of all
};

// The columns of a resize in groups of sixteen; if size is not a multiple of
// that, the last column is repeated to fill the last group. A row is in planes
// and is preceded by a copy of its first pixel, from which on offsets count as
// -1, and followed by two of its last.
class ResizeColumns {
 public:
  // `size` columns of a side, mirrored if flip is set. Requires: a four-tap
  // kernel, size > 0, and the columns are within side.out_size.
  void Set(ResizeKernel kernel, const ResizeSide& side, int size, bool flip);

  [[nodiscard]] const std::vector<ColumnGroup>& groups() const {
    return groups_;
  }
  // Whether all last weights are 0: a bilinear resize has two taps.
  [[nodiscard]] bool has_two_taps() const { return has_two_taps_; }
  // Whether the taps of four neighbours always lie within 16 bytes, and those
  // of a group within 64.
  [[nodiscard]] bool is_near() const { return is_near_; }
  [[nodiscard]] bool is_group_near() const { return is_group_near_; }

 private:
  void SetPlaces(ColumnGroup& group);

  std::vector<FourTaps> taps_;  // kept for its memory
  std::vector<ColumnGroup> groups_;
  bool has_two_taps_ = false;
  bool is_near_ = false;
  bool is_group_near_ = false;
};

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
