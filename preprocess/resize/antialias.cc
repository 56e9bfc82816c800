#include "preprocess/resize/antialias.h"

#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "preprocess/pixels/pack.h"

namespace infeed {
namespace {

constexpr int kChannels = 3;

// The horizontal pass to `image.width()` pixels a row, all rows of the source.
void ResizeRows(AntialiasAxis axis, const RgbView& source, RgbImage& image) {
  const int width = image.width();
  for (int x = 0; x < width; ++x) {
    const AntialiasTaps taps = axis.At(x);
    for (int y = 0; y < source.height; ++y) {
      for (int channel = 0; channel < kChannels; ++channel) {
        const std::uint8_t* from =
            source.row(y) + taps.first * kChannels + channel;
        std::int32_t sum = 0;
        for (const std::int32_t weight : taps.weights) {
          sum += weight * *from;
          from += kChannels;
        }
        image.row(y)[x * kChannels + channel] =
            static_cast<std::uint8_t>(RoundToByte(sum));
      }
    }
  }
}

std::uint32_t BlendTapRows(const RgbView& source, const AntialiasTaps& taps,
                           int sample) {
  std::int32_t sum = 0;
  int y = taps.first;
  for (const std::int32_t weight : taps.weights) {
    sum += weight * source.row(y++)[sample];
  }
  return static_cast<std::uint32_t>(RoundToByte(sum));
}

// Towards 0, as Pillow does it.
int Truncated(double place) { return static_cast<int>(place); }

double Triangle(double distance) {
  return distance < 1.0 ? 1.0 - distance : 0.0;
}

// Keys' cubic as Pillow computes it.
double Cubic(double distance) {
  constexpr double kA = -0.5;
  const double x = distance;
  if (x < 1.0) {
    return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  }
  return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * kA : 0.0;
}

// Sets the parts to a kernel's values, for source samples from first on, and
// returns their sum. The floating-point operations are in Pillow's order, as
// the order decides the last bits of the weights.
template <double (*kKernel)(double)>
double SetParts(int first, double centre, double steepness,
                std::span<double> parts) {
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double place = static_cast<double>(i) + first;
    parts[i] = kKernel(std::abs((place - centre + 0.5) * steepness));
    sum += parts[i];
  }
  return sum;
}

}  // namespace

AntialiasAxis::AntialiasAxis(ResizeKernel kernel)
    : is_bicubic_(kernel == ResizeKernel::kAntialiasBicubic) {
  Check(IsAntialiased(kernel), "an antialiased kernel");
  Set(1, 1);
}

void AntialiasAxis::Set(int in_size, int out_size) {
  Check(in_size > 0 && out_size > 0, "an image has pixels");
  in_size_ = in_size;
  scale_ = static_cast<double>(in_size) / out_size;
  width_ = std::max(scale_, 1.0);
  support_ = (is_bicubic_ ? 2.0 : 1.0) * width_;
}

int AntialiasAxis::max_taps() const {
  return std::min(static_cast<int>(std::ceil(2 * support_)) + 1, in_size_);
}

double AntialiasAxis::Centre(int out_index) const {
  return (out_index + 0.5) * scale_;
}

ResizeSpan AntialiasAxis::Support(int out_index) const {
  const double centre = Centre(out_index);
  const int first = std::max(Truncated(centre - support_ + 0.5), 0);
  const int end = std::min(Truncated(centre + support_ + 0.5), in_size_);
  return {.first = first, .count = end - first};
}

AntialiasTaps AntialiasAxis::At(int out_index) {
  const ResizeSpan support = Support(out_index);
  const double centre = Centre(out_index);
  const double steepness = 1.0 / width_;
  const auto count = static_cast<std::size_t>(support.count);
  parts_.resize(count);
  const double sum =
      is_bicubic_
          ? SetParts<Cubic>(support.first, centre, steepness, parts_)
          : SetParts<Triangle>(support.first, centre, steepness, parts_);
  weights_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = parts_[i] / sum * (1 << kAntialiasBits);
    weights_[i] =
        static_cast<std::int32_t>(weight + std::copysign(0.5, weight));
  }
  return {.first = support.first, .weights = weights_};
}

void ResizeAntialias(ResizeKernel kernel, const RgbView& source, int width,
                     int height, std::span<std::uint32_t> destination) {
  RgbImage rows;
  rows.Resize(width, source.height);
  ResizeRows(AntialiasAxis(kernel, source.width, width), source, rows);
  AntialiasAxis axis(kernel, source.height, height);
  std::uint32_t* target = destination.data();
  for (int y = 0; y < height; ++y) {
    const AntialiasTaps taps = axis.At(y);
    for (int x = 0; x < width; ++x) {
      const auto level = [&](int channel) {
        return BlendTapRows(rows.view(), taps, x * kChannels + channel);
      };
      *target++ = PackPixel(level(0), level(1), level(2));
    }
  }
}

}  // namespace infeed
