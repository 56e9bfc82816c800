#include "preprocess/augment/pillow_ops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
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

}  // namespace infeed
