#include "preprocess/augment/erasing.h"

#include <cmath>
#include <cstddef>

#include "preprocess/pixels/pack.h"
#include "preprocess/pixels/pixel_statistics.h"

namespace infeed {
namespace {

constexpr int kTries = 10;
constexpr double kLeastArea = 0.02;
constexpr double kMostArea = 0.33;
constexpr double kLeastRatio = 0.3;
constexpr double kMostRatio = 3.3;

double Between(double low, double high, RandomSource& random) {
  return low + (high - low) * static_cast<double>(random.Real());
}

int RoundedRoot(double area) {
  return static_cast<int>(std::nearbyint(std::sqrt(area)));
}

// Moments of the sum of four uniform bytes: 4 * 127.5, and the square root of
// 4 * (2^16 - 1) / 12.
constexpr float kSumMean = 510.0F;
constexpr float kSumDeviation = 147.80054F;

std::uint32_t NoiseLevel(std::size_t channel, std::uint32_t bytes) {
  const std::uint32_t sum =
      (bytes & 255) + (bytes >> 8 & 255) + (bytes >> 16 & 255) + (bytes >> 24);
  const float value = (static_cast<float>(sum) - kSumMean) / kSumDeviation;
  return TruncatedLevel(kImagenetStatistics.mean[channel] +
                        kImagenetStatistics.std[channel] * value + 0.5F);
}

}  // namespace

std::uint32_t MeanPixel() {
  const auto level = [](std::size_t channel) {
    return TruncatedLevel(kImagenetStatistics.mean[channel] + 0.5F);
  };
  return PackPixel(level(0), level(1), level(2));
}

void FillWithNoise(const Window& window, PixelImage image,
                   SampleRandom& random) {
  for (int y = window.y; y < window.y + window.height; ++y) {
    std::uint32_t* const row = image.row(y);
    for (int x = window.x; x < window.x + window.width; ++x) {
      row[x] = 0;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        row[x] |= NoiseLevel(channel, random.Word()) << kChannelShifts[channel];
      }
    }
  }
}

std::optional<Window> DrawErasing(float probability, const ImageSize& size,
                                  RandomSource& random) {
  if (random.Real() >= probability) {
    return std::nullopt;
  }
  const auto pixels = static_cast<double>(size.pixels());
  for (int i = 0; i < kTries; ++i) {
    const double area = pixels * Between(kLeastArea, kMostArea, random);
    const double ratio =
        std::exp(Between(std::log(kLeastRatio), std::log(kMostRatio), random));
    const int height = RoundedRoot(area * ratio);
    const int width = RoundedRoot(area / ratio);
    if (height < size.height && width < size.width) {
      const auto start = [&](int whole, int part) {
        return static_cast<int>(
            random.Below(static_cast<std::uint32_t>(whole - part + 1)));
      };
      const int y = start(size.height, height);
      return Window{.y = y,
                    .x = start(size.width, width),
                    .height = height,
                    .width = width};
    }
  }
  return std::nullopt;
}

}  // namespace infeed
