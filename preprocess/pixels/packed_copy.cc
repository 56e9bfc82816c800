#include "preprocess/pixels/packed_copy.h"

#include <bit>
#include <cstring>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/pixels/packed_copy.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE std::uint32_t PixelAt(const std::uint8_t* packed, std::size_t i) {
  std::uint32_t pixel = 0;
  std::memcpy(&pixel, packed + 4 * i, sizeof(pixel));
  return pixel & 0xFFFFFF00;
}

// Copies count pixels in one row.
template <bool kMirror>
HWY_INLINE void CopyRow(const std::uint8_t* packed, std::size_t count,
                        std::uint32_t* to) {
  const auto source = [&](std::size_t i) {
    return kMirror ? count - 1 - i : i;
  };
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  const auto mask = hn::Set(d, 0xFFFFFF00);
  // Streaming stores need aligned whole vectors.
  while (i < count &&
         reinterpret_cast<std::uintptr_t>(to + i) % (4 * lanes) != 0) {
    to[i] = PixelAt(packed, source(i));
    ++i;
  }
  for (; i + lanes <= count; i += lanes) {
    const std::size_t first = kMirror ? count - lanes - i : i;
    auto pixels = hn::BitCast(d, hn::LoadU(d8, packed + 4 * first));
    if constexpr (kMirror) {
      pixels = hn::Reverse(d, pixels);
    }
    hn::Stream(hn::And(pixels, mask), d, to + i);
  }
#endif
  for (; i < count; ++i) {
    to[i] = PixelAt(packed, source(i));
  }
}

void CopyPixels(const std::uint8_t* packed, std::size_t count,
                std::size_t width, bool mirror, std::uint32_t* to) {
  if (!mirror) {
    CopyRow<false>(packed, count, to);
  } else {
    for (std::size_t row = 0; row < count; row += width) {
      CopyRow<true>(packed + 4 * row, width, to + row);
    }
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(CopyPixels);

void CopyPackedPixels(std::span<const std::byte> packed, int width, bool mirror,
                      std::span<std::uint32_t> destination) {
  static_assert(std::endian::native == std::endian::little,
                "records hold pixels as they are in memory");
  const auto row = static_cast<std::size_t>(width);
  Check(packed.size() == destination.size_bytes() &&
            destination.size() % row == 0,
        "packed pixels fill whole rows");
  HWY_DYNAMIC_DISPATCH(CopyPixels)
  (reinterpret_cast<const std::uint8_t*>(packed.data()), destination.size(),
   row, mirror, destination.data());
}

}  // namespace infeed
#endif  // HWY_ONCE
