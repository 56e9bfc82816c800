#include "preprocess/augment/timm_policy.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace infeed {
namespace {

using enum PillowOp;

constexpr std::array<PillowOp, 15> kOps = {
    kAutoContrast, kEqualize,    kInvert, kRotate,     kPosterize,
    kSolarize,     kSolarizeAdd, kColor,  kContrast,   kBrightness,
    kSharpness,    kShearX,      kShearY, kTranslateX, kTranslateY};

constexpr std::uint32_t kMeanColour = 0x7C746800;  // 124, 116, 104

bool IsMove(PillowOp op) {
  return op == kRotate || op == kShearX || op == kShearY || op == kTranslateX ||
         op == kTranslateY;
}

bool IsSigned(PillowOp op) {
  return IsMove(op) || op == kColor || op == kContrast || op == kBrightness ||
         op == kSharpness;
}

double AboutNormal(RandomSource& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += static_cast<double>(random.Real());
  }
  return sum;
}

// Returns the argument of one of timm's "increasing" operations. part: of the
// highest level, below 0 for a negative sign.
double Argument(PillowOp op, double part, const ImageSize& size) {
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

PillowStep DrawTimmRandAugment(int magnitude, float std, const ImageSize& size,
                               RandomSource& random) {
  constexpr double kHighest = 10;
  const PillowOp op = kOps[random.Below(kOps.size())];
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
          .argument = Argument(op, part, size),
          .filter = is_bicubic ? MoveFilter::kBicubic : MoveFilter::kBilinear,
          .outside = kMeanColour};
}

}  // namespace infeed
