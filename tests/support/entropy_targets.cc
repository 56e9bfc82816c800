#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/support/entropy_targets.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "preprocess/jpeg_entropy/entropy-inl.h"
#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_entropy/runs-inl.h"
#include "tests/support/entropy_targets.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

std::array<std::uint8_t, 64> Places() {
  std::array<std::uint8_t, 64> places;
  std::copy_n(kStoredPlace.data(), places.size(), places.begin());
  return places;
}
bool Decode(const McuLayout& layout, const ScanBytes& bytes, int mcus,
            ScanPlace& place, std::int16_t* coefficients, std::uint8_t* ends) {
  return DecodeMcus(layout, bytes, mcus, place, coefficients, ends);
}
bool Pass(const McuLayout& layout, const ScanBytes& bytes, int mcus,
          ScanPlace& place) {
  return PassMcus(layout, bytes, mcus, place);
}
bool Runs(const McuLayout& layout, std::span<McuRun> runs) {
  return DecodeRuns(layout, runs);
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(Places);
HWY_EXPORT(Decode);
HWY_EXPORT(Pass);
HWY_EXPORT(Runs);

std::array<std::uint8_t, 64> StoredPlaces() {
  return HWY_DYNAMIC_DISPATCH(Places)();
}
bool DecodeMcusOnTarget(const McuLayout& layout, const ScanBytes& bytes,
                        int mcus, ScanPlace& place, std::int16_t* coefficients,
                        std::uint8_t* ends) {
  return HWY_DYNAMIC_DISPATCH(Decode)(layout, bytes, mcus, place, coefficients,
                                      ends);
}
bool PassMcusOnTarget(const McuLayout& layout, const ScanBytes& bytes, int mcus,
                      ScanPlace& place) {
  return HWY_DYNAMIC_DISPATCH(Pass)(layout, bytes, mcus, place);
}
bool DecodeRunsOnTarget(const McuLayout& layout, std::span<McuRun> runs) {
  return HWY_DYNAMIC_DISPATCH(Runs)(layout, runs);
}

}  // namespace infeed
#endif
