#include "preprocess/recipe/geometry.h"

#include <cstddef>

#include "base/error.h"
#include "preprocess/pixels/pixel_hash.h"
#include "preprocess/recipe/framing.h"

namespace infeed {
namespace {

// Of one side: place = scale * source + offset.
struct SideMap {
  double scale;
  double offset;
};

SideMap MapSide(int window_first, int window_length, int resized, int first) {
  const double scale = static_cast<double>(resized) / window_length;
  return {.scale = scale, .offset = -scale * window_first - first};
}

SideMap Reverse(const SideMap& side, int length) {
  return {.scale = -side.scale, .offset = length - side.offset};
}

}  // namespace

AffineMatrix Geometry::Matrix(const ImageSize& output) const {
  SideMap across = MapSide(window.x, window.width, resized.width, x);
  SideMap down = MapSide(window.y, window.height, resized.height, y);
  if (is_mirrored) {
    across = Reverse(across, output.width);
  }
  if (is_upside_down) {
    down = Reverse(down, output.height);
  }
  return {{{across.scale, 0, across.offset}, {0, down.scale, down.offset}}};
}

Geometry GeometryOf(const Framing& framing, const ImageSize& source) {
  return {.source = source,
          .window = framing.window,
          .resized = {framing.height, framing.width},
          .y = framing.y,
          .x = framing.x};
}

std::uint64_t HashGeometry(const Geometry& geometry, const ImageSize& output) {
  HashChain hash;
  for (const ImageSize& size : {geometry.source, geometry.resized, output}) {
    hash.Add(size.height).Add(size.width);
  }
  const Window& window = geometry.window;
  hash.Add(window.y).Add(window.x).Add(window.height).Add(window.width);
  hash.Add(geometry.y).Add(geometry.x).Add(geometry.padding);
  hash.Add(geometry.is_mirrored).Add(geometry.is_upside_down);
  return hash.hash();
}

void Apply(const AffineMatrix& matrix, std::span<double> xy) {
  Check(xy.size() % 2 == 0, "a point has two coordinates");
  for (std::size_t i = 0; i < xy.size(); i += 2) {
    const double x = xy[i];
    const double y = xy[i + 1];
    const auto map = [&](const std::array<double, 3>& row) {
      return row[0] * x + row[1] * y + row[2];
    };
    xy[i] = map(matrix[0]);
    xy[i + 1] = map(matrix[1]);
  }
}

}  // namespace infeed
