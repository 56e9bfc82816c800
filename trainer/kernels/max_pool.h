#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/kernels.h"

// Max pool of windows of 3x3 pixels with stride 2, with a byte per result for
// the gradient. Images are [images, height, width, channels] of an ImageType.
// Launches and pointers: see kernels.h.
namespace infeed {

// A window's first row and column are 2 * (its own) - top and - left. Requires:
// top is 1, or 0 and the height is even; so left and the width; each number is
// above 0, and the results are less than 2^31.
struct MaxPoolShape {
  int images = 0;
  int height = 0;  // of the larger images
  int width = 0;
  int channels = 0;
  int top = 1;  // rows of the first window above the image
  int left = 1;

  [[nodiscard]] constexpr int pooled_height() const { return (height + 1) / 2; }
  [[nodiscard]] constexpr int pooled_width() const { return (width + 1) / 2; }
};

// A batch norm, and the ReLU after it, of x before the pool.
struct PooledNorm {
  const float* weight = nullptr;  // nullptr: x is pooled as it is
  const float* bias = nullptr;
  const float* mean = nullptr;  // with inverse_std, from a NormForward of x
  const float* inverse_std = nullptr;
};

// The place of a result that no pixel gets a gradient of.
constexpr std::uint8_t kNoPlace = 0xFF;

// y: the greatest value of each window, to the bit. Of equal values the first
// one is taken; NaN is above all numbers, and of NaNs the last one is taken.
// This is LibTorch's order.
struct MaxPoolForward {
  MaxPoolShape shape;
  ImageType type = ImageType::kFloat32;
  const void* x = nullptr;
  // Pools relu(norm(x)), as a NormForward would store it; places of results
  // that are not above 0 are kNoPlace. Requires: channels are a multiple of
  // kNormChannels.
  PooledNorm norm = {};
  void* y = nullptr;  // [images, pooled_height, pooled_width, channels]
  // Where in the window y's value is, 3 * row + column; as many as y.
  std::uint8_t* places = nullptr;
};

// The gradient of MaxPoolForward. The windows that took a pixel's value are
// added up from 0 in float32, in their order in y, and rounded once.
struct MaxPoolBackward {
  MaxPoolShape shape;
  ImageType type = ImageType::kFloat32;
  const void* gradient = nullptr;  // of y
  const std::uint8_t* places = nullptr;
  void* x_gradient = nullptr;
};

void LaunchMaxPoolForward(const MaxPoolForward& pool, cudaStream_t stream);
void LaunchMaxPoolBackward(const MaxPoolBackward& pool, cudaStream_t stream);

}  // namespace infeed
