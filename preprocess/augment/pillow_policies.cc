#include "preprocess/augment/pillow_policies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace infeed {
namespace {

using enum PillowOp;

constexpr std::uint32_t kOps = 14;

constexpr int kBins = 31;
constexpr int kBits = 8;  // of Posterize in the first bin

// The magnitudes of the last bin; magnitudes of the first bin are 0.
struct Magnitudes {
  double shear;
  double translate_x;  // in pixels
  double translate_y;
  double rotate;     // in degrees
  double enhance;    // distance of the factor from 1
  int dropped_bits;  // of Posterize
};

constexpr Magnitudes kTrivial = {.shear = 0.99,
                                 .translate_x = 32,
                                 .translate_y = 32,
                                 .rotate = 135,
                                 .enhance = 0.99,
                                 .dropped_bits = 6};

// torch.linspace(start, end, kBins)[bin], which counts from the nearer end.
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

bool IsMove(PillowOp op) {
  return op == kRotate || op == kShearX || op == kShearY || op == kTranslateX ||
         op == kTranslateY;
}

bool IsSigned(PillowOp op) {
  return IsMove(op) || op == kColor || op == kContrast || op == kBrightness ||
         op == kSharpness;
}

double DrawSign(PillowOp op, RandomSource& random) {
  return IsSigned(op) && random.Below(2) == 1 ? -1 : 1;
}

double Argument(PillowOp op, const Magnitudes& most, int bin, double sign) {
  const auto part = [&](double end) { return sign * BinValue(0, end, bin); };
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
      return kBits - std::nearbyint(static_cast<float>(bin) /
                                    (static_cast<float>(kBins - 1) /
                                     static_cast<float>(most.dropped_bits)));
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

constexpr std::array<PillowOp, 15> kTimmOps = {
    kAutoContrast, kEqualize,    kInvert, kRotate,     kPosterize,
    kSolarize,     kSolarizeAdd, kColor,  kContrast,   kBrightness,
    kSharpness,    kShearX,      kShearY, kTranslateX, kTranslateY};

constexpr std::uint32_t kMeanColour = 0x7C746800;  // 124, 116, 104

double AboutNormal(RandomSource& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += static_cast<double>(random.Real());
  }
  return sum;
}

// Returns the argument of one of timm's "increasing" operations. part: of the
// highest level, below 0 for a negative sign.
double TimmArgument(PillowOp op, double part, const ImageSize& size) {
  const auto whole = [&](int most) { return static_cast<int>(part * most); };
  switch (op) {
    case kRotate:
      return part * 30;
    case kPosterize:
      return 4 - whole(4);
    case kSolarize:
      return 256 - whole(256);
    case kSolarizeAdd:
      return whole(110);
    case kColor:
    case kContrast:
    case kBrightness:
    case kSharpness:
      return std::max(0.1, 1.0 + part * 0.9);
    case kShearX:
    case kShearY:
      return part * 0.3;
    case kTranslateX:
      return part * 0.45 * size.width;
    case kTranslateY:
      return part * 0.45 * size.height;
    case kIdentity:
    case kAutoContrast:
    case kEqualize:
    case kInvert:
      return 0;
  }
  return 0;
}

}  // namespace

PillowStep DrawTrivialAugment(RandomSource& random) {
  const auto op = static_cast<PillowOp>(random.Below(kOps));
  const int bin = HasMagnitude(op) ? static_cast<int>(random.Below(kBins)) : 0;
  return {op, Argument(op, kTrivial, bin, DrawSign(op, random))};
}

PillowStep DrawRandAugment(int magnitude, const ImageSize& size,
                           RandomSource& random) {
  const Magnitudes most = {.shear = 0.3,
                           .translate_x = 150.0 / 331.0 * size.width,
                           .translate_y = 150.0 / 331.0 * size.height,
                           .rotate = 30,
                           .enhance = 0.9,
                           .dropped_bits = 4};
  const auto op = static_cast<PillowOp>(random.Below(kOps));
  return {op, Argument(op, most, magnitude, DrawSign(op, random))};
}

PillowStep DrawTimmRandAugment(int magnitude, float std, const ImageSize& size,
                               RandomSource& random) {
  constexpr double kHighest = 10;
  const PillowOp op = kTimmOps[random.Below(kTimmOps.size())];
  if (random.Real() > 0.5F) {
    return {};
  }
  double level = magnitude;
  if (std > 0) {
    level += static_cast<double>(std) * AboutNormal(random);
  }
  double part = std::clamp(level, 0.0, kHighest) / kHighest;
  if (IsSigned(op) && random.Real() > 0.5F) {
    part = -part;
  }
  const bool is_bicubic = IsMove(op) && random.Below(2) == 1;
  return {.op = op,
          .argument = TimmArgument(op, part, size),
          .filter = is_bicubic ? MoveFilter::kBicubic : MoveFilter::kBilinear,
          .outside = kMeanColour};
}

}  // namespace infeed
