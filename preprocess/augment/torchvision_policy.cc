#include "preprocess/augment/torchvision_policy.h"

#include <cmath>
#include <cstdint>

namespace infeed {
namespace {

using enum PillowOp;

constexpr std::uint32_t kOps = 14;
constexpr int kBins = 31;

// The magnitudes of the last bin; those of the first change nothing.
struct Magnitudes {
  double shear;
  double translate;  // in pixels
  double rotate;     // in degrees
  double enhance;    // distance of the factor from 1
  int posterize;     // bits that are dropped
};

constexpr Magnitudes kTrivial = {0.99, 32, 135, 0.99, 6};

// torch.linspace(start, end, kBins), which counts from the nearer end.
float BinValue(double start, double end, int bin) {
  const auto first = static_cast<float>(start);
  const auto last = static_cast<float>(end);
  const float step = (last - first) / static_cast<float>(kBins - 1);
  return bin < kBins / 2
             ? std::fma(step, static_cast<float>(bin), first)
             : std::fma(-step, static_cast<float>(kBins - 1 - bin), last);
}

bool HasMagnitude(PillowOp op) {
  return op != kIdentity && op != kAutoContrast && op != kEqualize;
}

bool IsSigned(PillowOp op) {
  return HasMagnitude(op) && op != kPosterize && op != kSolarize;
}

double Argument(PillowOp op, const Magnitudes& most, int bin, double sign) {
  const auto part = [&](double end) { return sign * BinValue(0, end, bin); };
  switch (op) {
    case kShearX:
    case kShearY:
      return part(most.shear);
    case kTranslateX:
    case kTranslateY:
      // torchvision moves the image, Pillow the place that it is taken from.
      return -std::trunc(part(most.translate));
    case kRotate:
      return part(most.rotate);
    case kBrightness:
    case kColor:
    case kContrast:
    case kSharpness:
      return 1.0 + part(most.enhance);
    case kPosterize:
      return 8 - std::nearbyint(static_cast<float>(bin) /
                                (static_cast<float>(kBins - 1) /
                                 static_cast<float>(most.posterize)));
    case kSolarize:
      return BinValue(255, 0, bin);
    case kIdentity:
    case kAutoContrast:
    case kEqualize:
    case kInvert:
    case kSolarizeAdd:
      return 0;
  }
  return 0;
}

}  // namespace

PillowStep DrawTrivialAugment(RandomSource& random) {
  const auto op = static_cast<PillowOp>(random.Below(kOps));
  const int bin = HasMagnitude(op) ? static_cast<int>(random.Below(kBins)) : 0;
  const bool is_negative = IsSigned(op) && random.Below(2) == 1;
  return {op, Argument(op, kTrivial, bin, is_negative ? -1 : 1)};
}

PillowStep DrawRandAugment(int magnitude, int side, RandomSource& random) {
  const Magnitudes most = {.shear = 0.3,
                           .translate = 150.0 / 331.0 * side,
                           .rotate = 30,
                           .enhance = 0.9,
                           .posterize = 4};
  const auto op = static_cast<PillowOp>(random.Below(kOps));
  const bool is_negative = IsSigned(op) && random.Below(2) == 1;
  return {op, Argument(op, most, magnitude, is_negative ? -1 : 1)};
}

}  // namespace infeed
