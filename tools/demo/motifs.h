#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

// The figures that the demo pictures are made of, as signed distances: a
// number for each place of the plane, negative inside the figure and positive
// outside, that says how far the edge is. Edges come out smooth at any scale.
namespace infeed {

struct Point {
  float x = 0;
  float y = 0;
};

inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline Point operator*(Point p, float scale) {
  return {p.x * scale, p.y * scale};
}
inline float Length(Point p) { return std::sqrt(p.x * p.x + p.y * p.y); }

// A turn by a fixed angle.
class Rotation {
 public:
  explicit Rotation(float angle)
      : cosine_(std::cos(angle)), sine_(std::sin(angle)) {}
  [[nodiscard]] Point operator()(Point p) const {
    return {cosine_ * p.x - sine_ * p.y, sine_ * p.x + cosine_ * p.y};
  }

 private:
  float cosine_;
  float sine_;
};

// std::floor without a call into the library: it is asked for often.
inline std::int32_t FloorToInt(float value) {
  const auto whole = static_cast<std::int32_t>(value);
  return whole - (value < static_cast<float>(whole) ? 1 : 0);
}

// A hash of a place in a grid, in [0, 1): randomness that belongs to a place
// and not to the order in which pixels are drawn.
[[nodiscard]] float PlaceNoise(std::int32_t x, std::int32_t y,
                               std::uint32_t key);

// Smooth noise in [0, 1) with one feature a unit.
[[nodiscard]] float SmoothNoise(Point p, std::uint32_t key);

inline constexpr int kMotifs = 10;

// Bytewise order of their names.
enum class Motif {
  kChecker,
  kCross,
  kDisc,
  kRing,
  kSpots,
  kSquare,
  kStar,
  kStripes,
  kTriangle,
  kZigzag,
};

[[nodiscard]] std::string_view MotifName(Motif motif);

// Whether it fills the plane, with a period of about 2. The others are single
// figures around (0, 0) within a square of -1..1.
[[nodiscard]] bool IsTexture(Motif motif);

// The distance from p to the motif's edge, negative inside. Not exact far from
// the edge, where nobody looks. key chooses among the textures made of noise.
[[nodiscard]] float Distance(Motif motif, Point p, std::uint32_t key);

}  // namespace infeed
