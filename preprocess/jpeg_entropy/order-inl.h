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

// The index of a number in an order.
constexpr std::uint8_t PlaceOf(const std::array<std::uint8_t, 64>& order,
                               std::uint8_t number) {
  std::uint8_t place = 0;
  while (order[place] != number) {
    ++place;
  }
  return place;
}

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

// The order for the vectors of the inverse DCT: row * 8 + column of the
// coefficient at each place. One instruction multiplies and adds two
// interleaved rows, and, after the first pass, two columns.
inline constexpr std::array<std::uint8_t, 64> kPairedOrder = [] {
  constexpr std::array<int, 8> rows = {0, 4, 2, 6, 7, 1, 3, 5};
  constexpr std::array<int, 8> columns = {0, 4, 2, 6, 7, 1, 3, 5};
  std::array<std::uint8_t, 64> order{};
  for (std::size_t i = 0; i < 64; ++i) {
    order[i] = static_cast<std::uint8_t>(8 * rows[i / 16 * 2 + i % 2] +
                                         columns[i % 16 / 2]);
  }
  return order;
}();

// Whether coefficients are kept in zigzag order between the entropy decoder and
// the inverse DCT: with AVX-512, where the inverse DCT reorders them as it
// loads.
inline constexpr bool kZigzagStored = HWY_TARGET <= HWY_AVX3;

// Whether they are kept in kPairedOrder. If neither, they are kept row by row.
inline constexpr bool kPairsStored =
    !kZigzagStored && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

// The place of the k-th coefficient in zigzag order, counted from the block's
// begin. Places >= 64 are in the next block: the zero at a block's end is
// written there. The place before the first one is for a stopped stream.
struct StoredPlaces {
  std::array<std::uint8_t, 145> all{};

  constexpr std::uint8_t operator[](std::size_t k) const { return all[k + 1]; }
  [[nodiscard]] constexpr const std::uint8_t* data() const {
    return all.data() + 1;
  }
};
// Hidden: read without a look-up of its address.
[[gnu::visibility("hidden")]] inline constexpr StoredPlaces kStoredPlace = [] {
  StoredPlaces places;
  for (std::size_t k = 0; k + 1 < places.all.size(); ++k) {
    std::uint8_t& place = places.all[k + 1];
    place = static_cast<std::uint8_t>(k);
    if (k < 64 && kPairsStored) {
      place = PlaceOf(kPairedOrder, kZigzagOrder[k]);
    } else if (k < 64 && !kZigzagStored) {
      place = kZigzagOrder[k];
    }
  }
  return places;
}();

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_JPEG_ORDER_INL_H_
