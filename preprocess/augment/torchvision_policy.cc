#include "preprocess/augment/torchvision_policy.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace infeed {
namespace {

using enum PillowOp;

constexpr std::uint32_t kOps = 14;

// The magnitudes of the last bin; those of the first are 0.
struct Magnitudes {
  int bins;
  double shear;
  double translate_x;  // in pixels
  double translate_y;
  double rotate;     // in degrees
  double enhance;    // distance of the factor from 1
  int bits;          // of Posterize in the first bin
  int dropped_bits;  // in the last
};

constexpr Magnitudes kTrivial = {.bins = 31,
                                 .shear = 0.99,
                                 .translate_x = 32,
                                 .translate_y = 32,
                                 .rotate = 135,
                                 .enhance = 0.99,
                                 .bits = 8,
                                 .dropped_bits = 6};

// torch.linspace(start, end, bins)[bin], which counts from the nearer end.
float BinValue(double start, double end, int bin, int bins) {
  const auto first = static_cast<float>(start);
  const auto last = static_cast<float>(end);
  const float step = (last - first) / static_cast<float>(bins - 1);
  return bin < bins / 2
             ? std::fma(step, static_cast<float>(bin), first)
             : std::fma(-step, static_cast<float>(bins - 1 - bin), last);
}

bool HasMagnitude(PillowOp op) {
  return op != kIdentity && op != kAutoContrast && op != kEqualize;
}

bool IsSigned(PillowOp op) {
  return HasMagnitude(op) && op != kPosterize && op != kSolarize;
}

double Argument(PillowOp op, const Magnitudes& most, int bin, double sign) {
  const auto part = [&](double end) {
    return sign * BinValue(0, end, bin, most.bins);
  };
  switch (op) {
    case kShearX:
    case kShearY:
      return part(most.shear);
    // torchvision moves the image, Pillow the place that it is taken from.
    case kTranslateX:
      return -std::trunc(part(most.translate_x));
    case kTranslateY:
      return -std::trunc(part(most.translate_y));
    case kRotate:
      return part(most.rotate);
    case kBrightness:
    case kColor:
    case kContrast:
    case kSharpness:
      return 1.0 + part(most.enhance);
    case kPosterize:
      return most.bits -
             std::nearbyint(static_cast<float>(bin) /
                            (static_cast<float>(most.bins - 1) /
                             static_cast<float>(most.dropped_bits)));
    case kSolarize:
      return BinValue(255, 0, bin, most.bins);
    case kIdentity:
    case kAutoContrast:
    case kEqualize:
    case kInvert:
    case kSolarizeAdd:
      return 0;
  }
  return 0;
}

// Draws one of the first bins, and the sign.
PillowStep DrawStep(PillowOp op, const Magnitudes& most, std::uint32_t bins,
                    RandomSource& random) {
  const int bin = HasMagnitude(op) ? static_cast<int>(random.Below(bins)) : 0;
  const bool is_negative = IsSigned(op) && random.Below(2) == 1;
  return {op, Argument(op, most, bin, is_negative ? -1 : 1)};
}

}  // namespace

PillowStep DrawTrivialAugment(RandomSource& random) {
  return DrawStep(static_cast<PillowOp>(random.Below(kOps)), kTrivial, 31,
                  random);
}

PillowStep DrawRandAugment(int magnitude, const ImageSize& size,
                           RandomSource& random) {
  const Magnitudes most = {.bins = 31,
                           .shear = 0.3,
                           .translate_x = 150.0 / 331.0 * size.width,
                           .translate_y = 150.0 / 331.0 * size.height,
                           .rotate = 30,
                           .enhance = 0.9,
                           .bits = 8,
                           .dropped_bits = 4};
  const auto op = static_cast<PillowOp>(random.Below(kOps));
  const bool is_negative = IsSigned(op) && random.Below(2) == 1;
  return {op, Argument(op, most, magnitude, is_negative ? -1 : 1)};
}

PillowStep DrawAugMix(int severity, const ImageSize& size,
                      RandomSource& random) {
  constexpr std::array<PillowOp, 13> kMixOps = {
      kShearX,    kShearY,   kTranslateX,   kTranslateY, kRotate,
      kPosterize, kSolarize, kAutoContrast, kEqualize,   kBrightness,
      kColor,     kContrast, kSharpness};
  const Magnitudes most = {.bins = 10,
                           .shear = 0.3,
                           .translate_x = size.width / 3.0,
                           .translate_y = size.height / 3.0,
                           .rotate = 30,
                           .enhance = 0.9,
                           .bits = 4,
                           .dropped_bits = 4};
  return DrawStep(kMixOps[random.Below(kMixOps.size())], most,
                  static_cast<std::uint32_t>(severity), random);
}

}  // namespace infeed
