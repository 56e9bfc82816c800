#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace infeed {

// A number's bits in IEEE 754's binary16.
enum class Float16 : std::uint16_t {};

// The nearest one, ties to even.
inline Float16 ToFloat16(float value) {
  const std::uint32_t sign =
      std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000U;
  const float size = std::abs(value);
  if (std::isnan(value)) {
    return Float16{0x7FFF};
  }
  if (size >= 65520) {
    return Float16{static_cast<std::uint16_t>(sign | 0x7C00U)};
  }
  // A carry of the fraction adds one to the exponent.
  const int exponent = std::max(size > 0 ? std::ilogb(size) : -14, -14);
  const long fraction = std::lrint(std::ldexp(size, 10 - exponent));
  const auto bits =
      static_cast<std::uint32_t>((exponent + 14) * 1024 + fraction);
  return Float16{static_cast<std::uint16_t>(sign | bits)};
}

inline float ToFloat(Float16 value) {
  const auto bits = static_cast<std::uint16_t>(value);
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  float size = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(fraction), -24);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

// The bits of the nearest bfloat16, ties to even. Requires: not NaN.
constexpr std::uint16_t Bfloat16Bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace infeed
