#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/image.h"

namespace infeed {

// The four source samples that one output sample is made of, and their
// weights, of which 2^14 is one; they sum to exactly one.
struct BicubicTaps {
  std::array<int, 4> index;
  std::array<std::int16_t, 4> weight;
};

// The taps of an output sample when in_size samples become out_size: the
// coordinate is out_index * in_size / out_size, without half-pixel offset, cut
// to 1,024 steps a sample; indices are clamped to the edges. Requires: sizes >
// 0, 0 <= out_index < out_size.
[[nodiscard]] BicubicTaps BicubicTapsAt(int out_index, int in_size,
                                        int out_size);

// Working memory of a resize, kept from image to image.
struct ResizeScratch {
  std::vector<BicubicTaps> columns;
  std::vector<std::int16_t> row;
};

// Resizes an image to size x size with TensorFlow's legacy bicubic kernel (A =
// -0.75, no half-pixel offset, 1,024 steps a pixel, edges repeated, no
// antialiasing) and writes the pixels packed, R << 24 | G << 16 | B << 8, into
// destination, mirrored left to right where flip is set.
//
// Fixed point, vertically first: a row of sums in 1/128 levels, less 128 levels
// to fit 16 bits, rounded half up; then horizontally, rounded half up and
// clamped to 0..255. This scalar function defines the bytes that every other
// implementation must give, and lies within one level of the formula in
// floating point. Requires: destination.size() == size * size.
void ResizeBicubic(const RgbView& source, int size, bool flip,
                   ResizeScratch& scratch,
                   std::span<std::uint32_t> destination);

}  // namespace infeed
