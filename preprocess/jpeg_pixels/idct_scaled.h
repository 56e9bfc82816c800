#pragma once

#include <cstddef>
#include <cstdint>

namespace infeed {

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
