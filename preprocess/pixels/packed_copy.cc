#include "preprocess/pixels/packed_copy.h"

#include <algorithm>

#include "base/error.h"
#include "base/number_bytes.h"

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
  return LoadLittleEndian<std::uint32_t>(packed + 4 * i) & 0xFFFFFF00;
}

// Copies count pixels in one row. Reads forward also if it mirrors: memory is
// then read ahead by the CPU.
template <bool kMirror>
HWY_INLINE void CopyRow(const std::uint8_t* packed, std::size_t count,
                        [[maybe_unused]] bool cached, std::uint32_t* to) {
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
    pixels = hn::And(pixels, mask);
    if (cached) {
      hn::Store(pixels, d, place(i, lanes));
    } else {
      hn::Stream(pixels, d, place(i, lanes));
    }
  }
#endif
  for (; i < count; ++i) {
    *place(i, 1) = PixelAt(packed, i);
  }
}

void CopyPixels(const std::uint8_t* packed, std::size_t count, bool mirror,
                bool cached, std::uint32_t* to) {
  if (mirror) {
    CopyRow<true>(packed, count, cached, to);
  } else {
    CopyRow<false>(packed, count, cached, to);
  }
}

HWY_INLINE void UnpackPixel(std::uint32_t pixel, std::uint8_t* rgb) {
  rgb[0] = static_cast<std::uint8_t>(pixel >> 24);
  rgb[1] = static_cast<std::uint8_t>(pixel >> 16);
  rgb[2] = static_cast<std::uint8_t>(pixel >> 8);
}

void Unpack(const std::uint32_t* HWY_RESTRICT pixels, std::size_t count,
            std::uint8_t* HWY_RESTRICT rgb) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::uint8_t three[3 * HWY_LANES(std::uint8_t)];
  // Streaming stores need aligned whole vectors.
  while (i < count &&
         reinterpret_cast<std::uintptr_t>(rgb + 3 * i) % lanes != 0) {
    UnpackPixel(pixels[i], rgb + 3 * i);
    ++i;
  }
  for (; i + lanes <= count; i += lanes) {
    auto zero = hn::Zero(d);
    auto blue = zero;
    auto green = zero;
    auto red = zero;
    hn::LoadInterleaved4(d, reinterpret_cast<const std::uint8_t*>(pixels + i),
                         zero, blue, green, red);
    hn::StoreInterleaved3(red, green, blue, d, three);
    for (std::size_t at = 0; at < 3 * lanes; at += lanes) {
      hn::Stream(hn::Load(d, three + at), d, rgb + 3 * i + at);
    }
  }
#endif
  for (; i < count; ++i) {
    UnpackPixel(pixels[i], rgb + 3 * i);
  }
  hwy::FlushStream();
}

void CopyBytes(const std::byte* HWY_RESTRICT from, std::size_t count,
               std::byte* HWY_RESTRICT to) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  // Streaming stores need aligned whole vectors.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % lanes;
  i = past == 0 ? 0 : std::min(count, lanes - past);
  std::memcpy(to, from, i);
  for (; i + lanes <= count; i += lanes) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i)), d,
               reinterpret_cast<std::uint8_t*>(to + i));
  }
#endif
  std::memcpy(to + i, from + i, count - i);
  hwy::FlushStream();
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
HWY_EXPORT(Unpack);
HWY_EXPORT(CopyBytes);

void CopyPackedPixels(
    std::span<const std::byte> packed, int width, bool mirror,
    std::span<std::uint32_t> destination,
    const std::function<void(std::span<const std::byte>)>& on_piece,
    bool cached) {
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
     cached, to.data());
  }
  hwy::FlushStream();
}

void UnpackPixels(std::span<const std::uint32_t> pixels,
                  std::span<std::uint8_t> rgb) {
  Check(rgb.size() == 3 * pixels.size(), "a pixel has three bytes");
  HWY_DYNAMIC_DISPATCH(Unpack)(pixels.data(), pixels.size(), rgb.data());
}

void CopyPixelBytes(std::span<const std::byte> from, std::span<std::byte> to) {
  Check(from.size() == to.size(), "a copy has the size of what it is of");
  if (!from.empty()) {
    HWY_DYNAMIC_DISPATCH(CopyBytes)(from.data(), from.size(), to.data());
  }
}

}  // namespace infeed
#endif  // HWY_ONCE
