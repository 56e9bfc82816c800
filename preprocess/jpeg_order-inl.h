// The order of a block's coefficients between the entropy decoder and the
// inverse DCT, for each instruction set.
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

// Row * 8 + column of the k-th coefficient in zigzag order.
inline constexpr std::array<std::uint8_t, 64> kZigzagOrder = [] {
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

// Whether coefficients are kept in zigzag order between the entropy decoder and
// the inverse DCT: with AVX-512, where the latter reorders as it loads.
inline constexpr bool kZigzagStored = HWY_TARGET <= HWY_AVX3;

// Where the k-th coefficient of a block in zigzag order is kept, from the
// block's begin. Places of 64 and more belong to the block behind: the zero at
// the end of a block goes there.
inline constexpr std::array<std::uint8_t, 128> kStoredPlace = [] {
  std::array<std::uint8_t, 128> places{};
  for (std::size_t k = 0; k < places.size(); ++k) {
    places[k] = k < 64 && !kZigzagStored ? kZigzagOrder[k]
                                         : static_cast<std::uint8_t>(k);
  }
  return places;
}();

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_JPEG_ORDER_INL_H_
