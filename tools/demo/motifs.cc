#include "tools/demo/motifs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numbers>

namespace infeed {
namespace {

float Floor(float value) { return static_cast<float>(FloorToInt(value)); }

float Blend(float a, float b, float t) { return a + (b - a) * t; }

// ---- Motifs: signed distances, negative inside, in a cell of width 2 --------

float Disc(Point p, std::uint32_t /*key*/) { return Length(p) - 0.72F; }

float Ring(Point p, std::uint32_t /*key*/) {
  return std::abs(Length(p) - 0.58F) - 0.19F;
}

float Square(Point p, std::uint32_t /*key*/) {
  return std::max(std::abs(p.x), std::abs(p.y)) - 0.6F;
}

// Upright, with its tip at the top, where y is smallest.
float Triangle(Point p, std::uint32_t /*key*/) {
  const Point side{0.894F, 0.447F};  // across the right edge, of length 1
  const float edge = std::abs(p.x) * side.x - (p.y + 0.85F) * side.y;
  return std::max(edge, p.y - 0.6F);
}

// Five tips: the edge is straight between a tip and the next notch.
float Star(Point p, std::uint32_t /*key*/) {
  constexpr float kSector = 2 * std::numbers::pi_v<float> / 5;
  constexpr float kOuter = 0.92F;
  constexpr float kInner = 0.38F;
  const float angle = std::atan2(p.x, -p.y);  // from the top
  const float turn = kSector * Floor(angle / kSector + 0.5F);
  const float within = std::abs(angle - turn);
  const Point q =
      Point{std::cos(within), std::sin(within)} * Length(p) - Point{kOuter, 0};
  const Point edge =
      Point{std::cos(kSector / 2), std::sin(kSector / 2)} * kInner -
      Point{kOuter, 0};
  return (edge.x * q.y - edge.y * q.x) / -Length(edge);
}

float Cross(Point p, std::uint32_t /*key*/) {
  const float x = std::abs(p.x);
  const float y = std::abs(p.y);
  return std::max(std::max(x, y) - 0.85F, std::min(x, y) - 0.24F);
}

// ---- Textures: distances over the whole plane, with a period of 2 -----------

// Distance to the nearest even line of a comb, signed so that half is inside.
float Comb(float x) {
  const float phase = x - 2 * Floor(x / 2);
  return std::abs(phase - 1) - 0.5F;
}

float Stripes(Point p, std::uint32_t /*key*/) {
  return Comb(p.x * 1.5F) / 1.5F;
}

float Checker(Point p, std::uint32_t /*key*/) {
  const float x = Comb(p.x);
  const float y = Comb(p.y);
  const float distance = std::min(std::abs(x), std::abs(y));
  return (x < 0) == (y < 0) ? -distance : distance;
}

float Zigzag(Point p, std::uint32_t /*key*/) {
  const float tooth = std::abs(p.x / 2 - Floor(p.x / 2) - 0.5F) * 2.4F;
  return Comb((p.y + tooth) * 1.3F) / 2;
}

float Spots(Point p, std::uint32_t key) {
  return (SmoothNoise(p * 2, key) - 0.5F) / 2;
}

constexpr std::array<Motif, kMotifs> kMotifList = {{{"checker", Checker, true},
                                                    {"cross", Cross},
                                                    {"disc", Disc},
                                                    {"ring", Ring},
                                                    {"spots", Spots, true},
                                                    {"square", Square},
                                                    {"star", Star},
                                                    {"stripes", Stripes, true},
                                                    {"triangle", Triangle},
                                                    {"zigzag", Zigzag, true}}};

}  // namespace

float PlaceNoise(std::int32_t x, std::int32_t y, std::uint32_t key) {
  std::uint32_t h = key ^ (static_cast<std::uint32_t>(x) * 0x9e3779b1U) ^
                    (static_cast<std::uint32_t>(y) * 0x85ebca77U);
  h = (h ^ (h >> 16)) * 0x7feb352dU;
  h = (h ^ (h >> 15)) * 0x846ca68bU;
  h ^= h >> 16;
  return static_cast<float>(h >> 8) * 0x1p-24F;
}

// PlaceNoise() at the corners of the unit squares, blended.
float SmoothNoise(Point p, std::uint32_t key) {
  const std::int32_t x = FloorToInt(p.x);
  const std::int32_t y = FloorToInt(p.y);
  const float u = p.x - static_cast<float>(x);
  const float v = p.y - static_cast<float>(y);
  const float s = u * u * (3 - 2 * u);
  const float t = v * v * (3 - 2 * v);
  const float top = Blend(PlaceNoise(x, y, key),  //
                          PlaceNoise(x + 1, y, key), s);
  const float bottom =
      Blend(PlaceNoise(x, y + 1, key), PlaceNoise(x + 1, y + 1, key), s);
  return Blend(top, bottom, t);
}

const Motif& MotifAt(int number) {
  return kMotifList.at(static_cast<std::size_t>(number));
}

}  // namespace infeed
