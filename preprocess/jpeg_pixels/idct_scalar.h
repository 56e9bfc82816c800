#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace infeed {

// x as a constant with 13 binary places. Requires: x >= 0.
[[nodiscard]] constexpr int Fixed13(double x) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): lround is not constexpr.
  return static_cast<int>(x * 8192 + 0.5);
}

// x wrapped to 16 bits, as in a register.
[[nodiscard]] constexpr int Wrapped16(int x) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(x));
}

// The inverse DCT of libjpeg-turbo's x86 SIMD code for JDCT_ISLOW, one block in
// plain C++: columns, then rows, with 13-bit constants (Loeffler, Ligtenberg
// and Moschytz, 1989). It differs from libjpeg's portable code for extreme
// numbers: dequantising and four sums wrap at 16 bits, and the result of the
// first pass is clamped to 16 bits.
//
// coefficients and quantiser: 64 each, row by row. Samples go to 8 rows of 8,
// stride apart. Returns false, with unspecified samples, when a number is so
// extreme that libjpeg's shortcuts differ from its general path: a dequantised
// coefficient in row 0 or 4 above 8191, or a result of the first pass in column
// 0 or 4 above 16383, in magnitude.
[[nodiscard]] bool InverseDctBlock(const std::int16_t* coefficients,
                                   const std::int16_t* quantiser,
                                   std::uint8_t* out, std::ptrdiff_t stride);

// For a block with only a DC coefficient, dequantised: the value of all its
// samples, and whether DC is within the limit.
[[nodiscard]] inline std::uint8_t FlatSample(int dc) {
  return static_cast<std::uint8_t>(std::clamp(((dc + 4) >> 3) + 128, 0, 255));
}
[[nodiscard]] inline bool IsFlatRegular(int dc) {
  return dc >= -4095 && dc <= 4095;
}

// The inverse DCT of one block to fewer samples: 4x4, 2x2 or 1x1, as
// libjpeg-turbo's x86 code does it for an image at 1/2, 1/4 or 1/8 of its size.
// 4x4 ignores row and column 4, 2x2 all even rows and columns but 0, 1x1 all
// but DC.
//
// coefficients and quantiser: 64 each, row by row. Samples go to size rows of
// size, stride apart. Returns false, with unspecified samples, when a number is
// so extreme that libjpeg's shortcuts differ from its general path: a
// dequantised coefficient in row 0 above 8191 in magnitude; for 2x2 a result of
// the first pass in column 0 above 16383; for 1x1 DC above 4087. Requires: size
// is 4, 2 or 1.
[[nodiscard]] bool InverseDctBlockScaled(int size,
                                         const std::int16_t* coefficients,
                                         const std::int16_t* quantiser,
                                         std::uint8_t* out,
                                         std::ptrdiff_t stride);

}  // namespace infeed
