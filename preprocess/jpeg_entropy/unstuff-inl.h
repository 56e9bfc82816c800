// Per-target code: included once for each instruction set.
#if defined(INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
#undef INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3_DL
// Un-stuffs whole vectors of bytes, up to one with a marker, with an
// instruction that closes gaps: an FF then costs no branch. The bytes may end
// with an FF whose next byte was not seen.
inline void UnstuffVectors(const std::uint8_t*& in, const std::uint8_t* end,
                           std::uint8_t*& out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> tag;
  static_assert(hn::MaxLanes(tag) == 64);
  const auto bits_of = [tag](auto mask) {
    std::uint64_t bits = 0;
    hn::StoreMaskBits(tag, mask, reinterpret_cast<std::uint8_t*>(&bits));
    return bits;
  };
  std::uint64_t before = 0;  // whether the byte before the vector is an FF
  for (; end - in >= 64; in += 64) {
    const auto bytes = hn::LoadU(tag, in);
    const std::uint64_t marks = bits_of(bytes == hn::Set(tag, 0xFF));
    const std::uint64_t zeros = bits_of(bytes == hn::Zero(tag));
    const std::uint64_t behind = marks << 1 | before;
    if ((behind & ~zeros) != 0) {
      break;
    }
    const std::uint64_t kept = ~behind;
    hn::StoreU(
        hn::CompressBits(bytes, reinterpret_cast<const std::uint8_t*>(&kept)),
        tag, out);
    out += std::popcount(kept);
    before = marks >> 63;
  }
  in -= before;
  out -= before;
}
#elif HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
// Un-stuffs whole vectors of bytes, up to one with a marker, with more than one
// FF, or with an FF at its end. One FF costs no branch: what follows its zero
// is stored again, one place ahead.
inline void UnstuffVectors(const std::uint8_t*& in, const std::uint8_t* end,
                           std::uint8_t*& out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<std::uint8_t, 32> tag;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(tag));
  const auto bits_of = [tag](auto mask) HWY_ATTR {
    std::uint32_t bits = 0;
    hn::StoreMaskBits(tag, mask, reinterpret_cast<std::uint8_t*>(&bits));
    return std::uint64_t{bits};
  };
  for (; end - in >= 2 * lanes + 2; in += lanes) {
    const auto bytes = hn::LoadU(tag, in);
    const std::uint64_t marks = bits_of(bytes == hn::Set(tag, 0xFF));
    const std::uint64_t zeros = bits_of(bytes == hn::Zero(tag));
    if ((marks & (marks - 1)) != 0 || (marks << 1 & ~zeros) != 0) {
      return;
    }
    const int first = std::countr_zero(marks | std::uint64_t{1} << lanes);
    hn::StoreU(bytes, tag, out);
    hn::StoreU(hn::LoadU(tag, in + first + 2), tag, out + first + 1);
    out += lanes - (marks != 0 ? 1 : 0);
  }
}
#endif

// Copies coded bytes from [in, end) to out, without the zero behind each FF, up
// to the first marker (an FF not followed by zero) or the end. Returns the end
// of the bytes read; moves out behind the copy. Requires: out has room for end
// - in bytes plus a vector.
inline const std::uint8_t* Unstuff(const std::uint8_t* in,
                                   const std::uint8_t* end,
                                   std::uint8_t*& out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> tag;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(tag));
  const auto marks = hn::Set(tag, 0xFF);
  std::uint8_t* target = out;
  while (in != end) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    UnstuffVectors(in, end, target);
#endif
    std::ptrdiff_t plain = 0;  // bytes before the next FF in this vector
    if (end - in >= lanes) {
      const auto bytes = hn::LoadU(tag, in);
      hn::StoreU(bytes, tag, target);
      const std::intptr_t found = hn::FindFirstTrue(tag, bytes == marks);
      plain = found < 0 ? lanes : found;
    } else {
      for (; plain < end - in && in[plain] != 0xFF; ++plain) {
        target[plain] = in[plain];
      }
    }
    in += plain;
    target += plain;
    if (in != end && *in == 0xFF) {
      if (end - in < 2 || in[1] != 0) {
        break;
      }
      *target++ = 0xFF;
      in += 2;
    }
  }
  out = target;
  return in;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
