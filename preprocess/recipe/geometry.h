#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

struct Framing;

// {{a, b, c}, {d, e, f}}: (x, y) becomes (ax + by + c, dx + ey + f).
using AffineMatrix = std::array<std::array<double, 3>, 2>;

// How an image became an output: the window was resized, the output was cut out
// of the result, then mirrored, then turned upside down.
struct Geometry {
  ImageSize source;
  Window window;
  ImageSize resized;  // the window's size after the resize
  // The output's first pixel in the resized window. Below 0: the window begins
  // that many pixels inside the output, after a margin.
  int y = 0;
  int x = 0;
  bool is_mirrored = false;     // left to right
  bool is_upside_down = false;  // top to bottom
  // Pixels that kCifar adds to each side before it cuts. (y, x) includes them
  // already; boxes are rounded as if they were added and removed.
  std::int16_t padding = 0;

  // Maps places in the source to places in an output of that size. A pixel (y,
  // x) covers y to y + 1 and x to x + 1, so that its middle is at + 0.5.
  [[nodiscard]] AffineMatrix Matrix(const ImageSize& output) const;

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

// The geometry of a framing, not mirrored.
[[nodiscard]] Geometry GeometryOf(const Framing& framing,
                                  const ImageSize& source);

// A hash of the geometry of an output of that size.
[[nodiscard]] std::uint64_t HashGeometry(const Geometry& geometry,
                                         const ImageSize& output);

// Maps points in place. Requires: xy is x, y, x, y, and so on.
void Apply(const AffineMatrix& matrix, std::span<double> xy);

}  // namespace infeed
