// Per-target include guard.
#if defined(INFEED_JPEG_IDCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_JPEG_IDCT_INL_H_
#undef INFEED_JPEG_IDCT_INL_H_
#else
#define INFEED_JPEG_IDCT_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_idct_scalar.h"
#include "preprocess/jpeg_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Transforms `count` blocks of one component: block blocks[i]'s coefficients
// are the 64 at coefficients + 64 * blocks[i], of which none behind the first
// ends[blocks[i]] in zigzag order is other than zero; its 8x8 samples go to
// out + 8 * i, rows stride apart. Coefficients and quantiser are in the order
// of kCoefficientPlace. Samples are those of libjpeg-turbo's JDCT_ISLOW (see
// jpeg_idct_scalar.h); false where InverseDctBlock() says so.
[[nodiscard]] HWY_MAYBE_UNUSED static bool InverseDctRow(
    const std::int16_t* coefficients, const std::uint8_t* ends,
    const int* blocks, int count, const std::int16_t* quantiser,
    std::uint8_t* out, std::ptrdiff_t stride) {
  static_cast<void>(ends);
  std::array<std::int16_t, 64> natural_quantiser;
  std::array<std::int16_t, 64> natural;
  for (std::size_t k = 0; k < 64; ++k) {
    natural_quantiser[kNaturalPlace[k]] = quantiser[kCoefficientPlace[k]];
  }
  bool regular = true;
  for (int i = 0; i < count; ++i) {
    const std::int16_t* block = coefficients + std::ptrdiff_t{64} * blocks[i];
    for (std::size_t k = 0; k < 64; ++k) {
      natural[kNaturalPlace[k]] = block[kCoefficientPlace[k]];
    }
    regular &= InverseDctBlock(natural.data(), natural_quantiser.data(),
                               out + 8 * i, stride);
  }
  return regular;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_JPEG_IDCT_INL_H_
