// Per-target include guard.
#if defined(INFEED_JPEG_ORDER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_JPEG_ORDER_INL_H_
#undef INFEED_JPEG_ORDER_INL_H_
#else
#define INFEED_JPEG_ORDER_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// The zigzag order: row * 8 + column of the k-th coefficient.
inline constexpr std::array<std::uint8_t, 64> kNaturalPlace = [] {
  std::array<std::uint8_t, 64> order{};
  int row = 0;
  int column = 0;
  for (std::uint8_t& place : order) {
    place = static_cast<std::uint8_t>(8 * row + column);
    const bool up = (row + column) % 2 == 0;
    int& ahead = up ? column : row;
    int& behind = up ? row : column;
    if (ahead == 7) {
      ++behind;
    } else {
      ++ahead;
      behind -= behind > 0 ? 1 : 0;
    }
  }
  return order;
}();

// Where a block's coefficients are kept between the entropy decoder and the
// inverse DCT: its k-th one in zigzag order at kCoefficientPlace[k]. With
// AVX-512 that is k itself, since the inverse DCT reorders as it loads.
inline constexpr std::array<std::uint8_t, 64> kCoefficientPlace = [] {
  std::array<std::uint8_t, 64> places{};
  for (std::size_t k = 0; k < 64; ++k) {
    places[k] = HWY_TARGET <= HWY_AVX3 ? static_cast<std::uint8_t>(k)
                                       : kNaturalPlace[k];
  }
  return places;
}();

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_JPEG_ORDER_INL_H_
