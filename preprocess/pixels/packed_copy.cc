#include "preprocess/pixels/packed_copy.h"

#include <algorithm>
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

// Copies count pixels in one row. Reads forward also if it mirrors: memory is
// then read ahead by the CPU.
template <bool kMirror>
HWY_INLINE void CopyRow(const std::uint8_t* packed, std::size_t count,
                        std::uint32_t* to) {
  // Where `pixels` pixels from the i-th on go.
  const auto place = [&](std::size_t i, std::size_t pixels) {
    return to + (kMirror ? count - i - pixels : i);
  };
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  const auto mask = hn::Set(d, 0xFFFFFF00);
  // Streaming stores need aligned whole vectors.
  while (i < count &&
         reinterpret_cast<std::uintptr_t>(place(i, 0)) % (4 * lanes) != 0) {
    *place(i, 1) = PixelAt(packed, i);
    ++i;
  }
  for (; i + lanes <= count; i += lanes) {
    auto pixels = hn::BitCast(d, hn::LoadU(d8, packed + 4 * i));
    if constexpr (kMirror) {
      pixels = hn::Reverse(d, pixels);
    }
    hn::Stream(hn::And(pixels, mask), d, place(i, lanes));
  }
#endif
  for (; i < count; ++i) {
    *place(i, 1) = PixelAt(packed, i);
  }
}

void CopyPixels(const std::uint8_t* packed, std::size_t count, bool mirror,
                std::uint32_t* to) {
  if (mirror) {
    CopyRow<true>(packed, count, to);
  } else {
    CopyRow<false>(packed, count, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {
namespace {

// ISA-L's checksum is fastest for multiples of 256 bytes, and of those for
// pieces that the CPU's read-ahead does not lose sight of.
constexpr std::size_t kPieceBytes = 768;

}  // namespace

HWY_EXPORT(CopyPixels);

void CopyPackedPixels(
    std::span<const std::byte> packed, int width, bool mirror,
    std::span<std::uint32_t> destination,
    const std::function<void(std::span<const std::byte>)>& on_piece) {
  static_assert(std::endian::native == std::endian::little,
                "records hold pixels as they are in memory");
  const auto row = static_cast<std::size_t>(width);
  Check(packed.size() == destination.size_bytes() &&
            destination.size() % row == 0,
        "packed pixels fill whole rows");
  const std::size_t whole = on_piece ? kPieceBytes / 4 : destination.size();
  const std::size_t step = mirror ? row : whole;
  std::span<const std::byte> unseen = packed;
  for (std::size_t i = 0; i < destination.size(); i += step) {
    const auto to =
        destination.subspan(i).first(std::min(step, destination.size() - i));
    const std::span<const std::byte> from =
        packed.subspan(4 * i, to.size_bytes());
    while (on_piece && unseen.data() < from.data() + from.size()) {
      const std::size_t bytes = std::min(kPieceBytes, unseen.size());
      on_piece(unseen.first(bytes));
      unseen = unseen.subspan(bytes);
    }
    HWY_DYNAMIC_DISPATCH(CopyPixels)
    (reinterpret_cast<const std::uint8_t*>(from.data()), to.size(), mirror,
     to.data());
  }
  hwy::FlushStream();
}

}  // namespace infeed
#endif  // HWY_ONCE
