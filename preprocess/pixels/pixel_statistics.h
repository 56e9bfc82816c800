#pragma once

#include <array>

namespace infeed {

// Normalization of a pixel's value (0 to 255) in each channel, red, green and
// blue: (value - mean) / std.
struct PixelStatistics {
  std::array<float, 3> mean;
  std::array<float, 3> std;
};

// ImageNet's training images, for normalization=imagenet.
inline constexpr PixelStatistics kImagenetStatistics = {
    .mean = {123.675F, 116.28F, 103.53F}, .std = {58.395F, 57.12F, 57.375F}};

// ImageNet's for gray images: the mean of the three channels.
inline constexpr PixelStatistics kImagenetGrayStatistics = {
    .mean = {114.495F, 114.495F, 114.495F}, .std = {57.63F, 57.63F, 57.63F}};

// Scales to 0..1: normalization=unit.
inline constexpr PixelStatistics kUnitStatistics = {.mean = {0, 0, 0},
                                                    .std = {255, 255, 255}};

}  // namespace infeed
