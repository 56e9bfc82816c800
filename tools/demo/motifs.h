#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

// The figures of the demo pictures, as signed distances: for each point of the
// plane the distance to the figure's edge, negative inside and positive
// outside. Edges are smooth at any scale.
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

// Rotation by a fixed angle.
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

// std::floor without a call into the library: it is called often.
inline std::int32_t FloorToInt(float value) {
  const auto whole = static_cast<std::int32_t>(value);
  return whole - (value < static_cast<float>(whole) ? 1 : 0);
}

// A hash of a grid point, in [0, 1): randomness that depends on the point, not
// on the order in which pixels are drawn.
[[nodiscard]] float PlaceNoise(std::int32_t x, std::int32_t y,
                               std::uint32_t key);

// Smooth noise in [0, 1) with one feature per unit of length.
[[nodiscard]] float SmoothNoise(Point p, std::uint32_t key);

inline constexpr int kMotifs = 10;

struct Motif {
  std::string_view name;
  // The distance from a point to the motif's edge, negative inside. Inexact far
  // from the edge, where exactness is not needed. key selects a texture made of
  // noise.
  float (*distance)(Point p, std::uint32_t key);
  // Fills the plane, with a period of about 2. Other motifs are single figures
  // around (0, 0) in the square -1..1.
  bool is_texture = false;
};

// Motif 0..kMotifs-1, in bytewise order of their names.
[[nodiscard]] const Motif& MotifAt(int number);

}  // namespace infeed
