#include "preprocess/pixels/unpack.h"

#include <bit>
#include <cstddef>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/pixels/unpack.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(Unpack);

void UnpackPixels(std::span<const std::uint32_t> pixels,
                  std::span<std::uint8_t> rgb) {
  static_assert(std::endian::native == std::endian::little,
                "the vector code reads a pixel's blue byte before its red one");
  Check(rgb.size() == 3 * pixels.size(), "a pixel has three bytes");
  HWY_DYNAMIC_DISPATCH(Unpack)(pixels.data(), pixels.size(), rgb.data());
}

}  // namespace infeed
#endif  // HWY_ONCE
