#include "preprocess/augment/pillow_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "preprocess/augment/color_ops.h"
#include "preprocess/augment/loops.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {
namespace {

// Python's round(value, 15), as Pillow rounds a rotation's matrix. The product
// in double precision would be rounded before, at 54 degrees to a half.
double Rounded15(double value) {
  const auto units = static_cast<long double>(value) * 1e15L;
  return static_cast<double>(std::nearbyint(units)) / 1e15;
}

Affine Rotation(double degrees, const ImageSize& size) {
  double turn = std::fmod(degrees, 360.0);
  turn += turn < 0 ? 360.0 : 0.0;
  const double angle = -(turn * (std::numbers::pi / 180));
  Affine affine{.xx = Rounded15(std::cos(angle)),
                .xy = Rounded15(std::sin(angle)),
                .yx = Rounded15(-std::sin(angle)),
                .yy = Rounded15(std::cos(angle))};
  const double x = size.width / 2.0;
  const double y = size.height / 2.0;
  affine.x = affine.xx * -x + affine.xy * -y + x;
  affine.y = affine.yx * -x + affine.yy * -y + y;
  return affine;
}

// Where a move takes an image's pixels from. Requires: step is a move.
Affine SourceOfMove(const PillowStep& step, const ImageSize& size) {
  switch (step.op) {
    case PillowOp::kShearX:
      return {.xy = step.argument};
    case PillowOp::kShearY:
      return {.yx = step.argument};
    case PillowOp::kTranslateX:
      return {.x = step.argument};
    case PillowOp::kTranslateY:
      return {.y = step.argument};
    default:
      return Rotation(step.argument, size);
  }
}

std::int32_t Fixed(double value) {
  return static_cast<std::int32_t>(std::floor(value * 65536 + 0.5));
}

FixedAxis FixedFrom(double by_x, double by_y, double offset) {
  return {Fixed(by_x), Fixed(by_y), Fixed(offset + by_x * 0.5 + by_y * 0.5)};
}

void MoveToNearest(const Affine& affine, std::uint32_t outside,
                   PixelImage image, MoveScratch& scratch) {
  const FixedAxis from_x = FixedFrom(affine.xx, affine.xy, affine.x);
  const FixedAxis from_y = FixedFrom(affine.yx, affine.yy, affine.y);
  CopySource(outside, image, scratch);
  for (int y = 0; y < image.size.height; ++y) {
    FindFixedPlaces(from_x, from_y, y, image.size.height, scratch.places);
    TakePlaces(image.row(y), scratch);
  }
}

// Pillow then takes whole pixels, whatever the filter. By an odd number of
// quarters it does so in a square alone.
bool IsByQuarterTurns(const PillowStep& step, const ImageSize& size) {
  const double least = size.is_square() ? 90 : 180;
  return step.op == PillowOp::kRotate && std::fmod(step.argument, least) == 0;
}

void Move(const PillowStep& step, PixelImage image, MoveScratch& scratch) {
  const Affine affine = SourceOfMove(step, image.size);
  if (step.filter == MoveFilter::kNearest ||
      IsByQuarterTurns(step, image.size)) {
    return MoveToNearest(affine, step.outside, image, scratch);
  }
  CopySource(step.outside, image, scratch);
  for (int y = 0; y < image.size.height; ++y) {
    InterpolateRow(step.filter == MoveFilter::kBicubic, affine, y,
                   scratch.source.data(), image.size.height, step.outside,
                   image.row_span(y));
  }
}

void Sharpen(float factor, PixelImage image, MoveScratch& scratch) {
  CopySource(0, image, scratch);
  const auto bytes =
      static_cast<std::ptrdiff_t>(image.row_span(0).size_bytes());
  const auto* source =
      reinterpret_cast<const std::uint8_t*>(scratch.source.data());
  for (int y = 1; y + 1 < image.size.height; ++y) {
    BlendFromSmooth(factor, source, source + bytes, source + 2 * bytes,
                    {reinterpret_cast<std::uint8_t*>(image.row(y)),
                     static_cast<std::size_t>(bytes)});
    source += bytes;
  }
}

void Contrast(float factor, std::span<std::uint32_t> pixels) {
  const double mean = static_cast<double>(SumOfPillowGray(pixels)) /
                      static_cast<double>(pixels.size());
  BlendFromConstant(static_cast<float>(static_cast<int>(mean + 0.5)), factor,
                    pixels);
}

void KeepBits(int bits, std::span<std::uint32_t> pixels) {
  if (bits == 0) {  // Which a shift of the reference's has as 1.
    std::ranges::fill(pixels, 0);
  } else {
    Posterize(bits, pixels);
  }
}

}  // namespace

void ApplyPillowStep(const PillowStep& step, PixelImage image,
                     MoveScratch& scratch) {
  const double argument = step.argument;
  const auto factor = static_cast<float>(argument);
  switch (step.op) {
    case PillowOp::kIdentity:
      return;
    case PillowOp::kShearX:
    case PillowOp::kShearY:
    case PillowOp::kTranslateX:
    case PillowOp::kTranslateY:
    case PillowOp::kRotate:
      return Move(step, image, scratch);
    case PillowOp::kBrightness:
      return BlendFromConstant(0, factor, image.pixels);
    case PillowOp::kColor:
      return BlendFromPillowGray(factor, image.pixels);
    case PillowOp::kContrast:
      return Contrast(factor, image.pixels);
    case PillowOp::kSharpness:
      return Sharpen(factor, image, scratch);
    case PillowOp::kPosterize:
      return KeepBits(static_cast<int>(argument), image.pixels);
    case PillowOp::kSolarize:
      return Solarize(static_cast<int>(std::ceil(argument)), image.pixels);
    case PillowOp::kAutoContrast:
      return StretchLevels(image.pixels);
    case PillowOp::kEqualize:
      return Equalize(image.pixels);
    case PillowOp::kInvert:
      return Invert(image.pixels);
    case PillowOp::kSolarizeAdd:
      return SolarizeAdd(static_cast<int>(argument), image.pixels);
  }
}

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
