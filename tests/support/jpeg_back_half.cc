#include "tests/support/jpeg_back_half.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/support/jpeg_back_half.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_pixels/color-inl.h"
#include "preprocess/jpeg_pixels/idct_scaled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

void YccToBytes(const std::uint8_t* y, const std::uint8_t* cb,
                const std::uint8_t* cr, int count, std::uint8_t* rgb) {
  YccToRgb(y, cb, cr, count, rgb);
}
void YccToPlanes(const std::uint8_t* y, const std::uint8_t* cb,
                 const std::uint8_t* cr, int count, const PlanesRow& row) {
  YccToRgb(y, cb, cr, count, row);
}
void GrayToBytes(const std::uint8_t* y, int count, std::uint8_t* rgb) {
  GrayToRgb(y, count, rgb);
}
void PlanesToBytes(const std::uint8_t* r, const std::uint8_t* g,
                   const std::uint8_t* b, int count, std::uint8_t* rgb) {
  PlanesToRgb(r, g, b, count, rgb);
}

JpegBackHalf BackHalf() {
  std::array<std::uint8_t, 64> places;
  std::copy_n(kStoredPlace.data(), places.size(), places.begin());
  return {.stored_place = places,
          .inverse_dct_row = InverseDctScaledRow,
          .upsample_h2v1 = UpsampleH2V1,
          .upsample_h2v2 = UpsampleH2V2,
          .upsample_h1v2 = UpsampleH1V2,
          .replicate_h2 = ReplicateH2,
          .ycc_to_rgb = YccToBytes,
          .ycc_to_planes = YccToPlanes,
          .gray_to_rgb = GrayToBytes,
          .planes_to_rgb = PlanesToBytes};
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(BackHalf);

JpegBackHalf CurrentJpegBackHalf() { return HWY_DYNAMIC_DISPATCH(BackHalf)(); }

}  // namespace infeed
#endif
