// Per-target code: included once for each instruction set.
#if defined(INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
#undef INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_UNSTUFF_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

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
