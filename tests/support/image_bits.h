#pragma once

#include <bit>
#include <cstdint>

#include "tests/support/float16.h"
#include "trainer/kernels/kernels.h"

// Images in an element's bits: T is Float16, uint16_t for bfloat16, uint32_t
// for float32.
namespace infeed {

template <typename T>
float ValueOf(T bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << (sizeof(T) == 2 ? 16 : 0));
}
template <>
inline float ValueOf(Float16 bits) {
  return ToFloat(bits);
}

template <typename T>
T RoundedBits(float value) {
  return static_cast<T>(sizeof(T) == 2 ? Bfloat16Bits(value)
                                       : std::bit_cast<std::uint32_t>(value));
}
template <>
inline Float16 RoundedBits(float value) {
  return ToFloat16(value);
}

template <typename T>
constexpr ImageType kImageTypeOf = sizeof(T) == 2 ? ImageType::kBfloat16
                                                  : ImageType::kFloat32;
template <>
inline constexpr ImageType kImageTypeOf<Float16> = ImageType::kFloat16;

}  // namespace infeed
