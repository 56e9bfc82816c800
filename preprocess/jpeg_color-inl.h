// Upsampling and colour as in jpeg_color_scalar.h, for each instruction set,
// one output row at a time. Input rows are readable 64 bytes before and behind
// what is named. Rows of samples may be written up to 64 bytes too far, R G B
// never.
#if defined(INFEED_JPEG_COLOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_JPEG_COLOR_INL_H_
#undef INFEED_JPEG_COLOR_INL_H_
#else
#define INFEED_JPEG_COLOR_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_color_scalar.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

HWY_MAYBE_UNUSED static void UpsampleH2V1(const std::uint8_t* in, int count,
                                          std::uint8_t* out) {
  UpsampleH2V1Row(in, count, out);
}

HWY_MAYBE_UNUSED static void UpsampleH2V2(const std::uint8_t* near,
                                          const std::uint8_t* far, int count,
                                          std::uint8_t* out) {
  UpsampleH2V2Row(near, far, count, out);
}

HWY_MAYBE_UNUSED static void UpsampleH1V2(const std::uint8_t* near,
                                          const std::uint8_t* far, bool lower,
                                          int count, std::uint8_t* out) {
  UpsampleH1V2Row(near, far, lower, count, out);
}

HWY_MAYBE_UNUSED static void ReplicateH2(const std::uint8_t* in, int count,
                                         std::uint8_t* out) {
  ReplicateH2Row(in, count, out);
}

HWY_MAYBE_UNUSED static void YccToRgb(const std::uint8_t* y,
                                      const std::uint8_t* cb,
                                      const std::uint8_t* cr, int count,
                                      std::uint8_t* rgb) {
  YccToRgbRow(y, cb, cr, count, rgb);
}

HWY_MAYBE_UNUSED static void PlanesToRgb(const std::uint8_t* r,
                                         const std::uint8_t* g,
                                         const std::uint8_t* b, int count,
                                         std::uint8_t* rgb) {
  PlanesToRgbRow(r, g, b, count, rgb);
}

HWY_MAYBE_UNUSED static void GrayToRgb(const std::uint8_t* y, int count,
                                       std::uint8_t* rgb) {
  PlanesToRgb(y, y, y, count, rgb);
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_JPEG_COLOR_INL_H_
