#include "preprocess/resize/antialias.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "preprocess/pixels/pack.h"

namespace infeed {
namespace {

constexpr int kChannels = 3;

// The horizontal pass: `width` pixels a row, all rows of the source.
void ResizeRows(const RgbView& source, int width, RgbImage& image) {
  image.Resize(width, source.height);
  AntialiasAxis axis(source.width, width);
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

}  // namespace

void AntialiasAxis::Set(int in_size, int out_size) {
  Check(in_size > 0 && out_size > 0, "an image has pixels");
  in_size_ = in_size;
  scale_ = static_cast<double>(in_size) / out_size;
  support_ = std::max(scale_, 1.0);
}

int AntialiasAxis::max_taps() const {
  return std::min(static_cast<int>(std::ceil(2 * support_)) + 1, in_size_);
}

double AntialiasAxis::Centre(int out_index) const {
  return (out_index + 0.5) * scale_;
}

ResizeSpan AntialiasAxis::Support(int out_index) const {
  const double centre = Centre(out_index);
  const int first = std::max(static_cast<int>(centre - support_ + 0.5), 0);
  const int end = std::min(static_cast<int>(centre + support_ + 0.5), in_size_);
  return {.first = first, .count = end - first};
}

// The floating-point operations are in Pillow's order, as the order decides the
// last bits of the weights.
AntialiasTaps AntialiasAxis::At(int out_index) {
  const ResizeSpan support = Support(out_index);
  const double centre = Centre(out_index);
  const double steepness = 1.0 / support_;
  const auto count = static_cast<std::size_t>(support.count);
  parts_.resize(count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double place = static_cast<double>(i) + support.first;
    parts_[i] =
        std::max(1.0 - std::abs((place - centre + 0.5) * steepness), 0.0);
    sum += parts_[i];
  }
  weights_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    weights_[i] = static_cast<std::int32_t>(0.5 + parts_[i] / sum *
                                                      (1 << kAntialiasBits));
  }
  return {.first = support.first, .weights = weights_};
}

void ResizeAntialias(const RgbView& source, int width, int height,
                     std::span<std::uint32_t> destination) {
  RgbImage rows;
  ResizeRows(source, width, rows);
  AntialiasAxis axis(source.height, height);
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
