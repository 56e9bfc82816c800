#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "preprocess/resize_side.h"
#include "trainer/cuda_kernels.h"

namespace infeed {

// A crop window among packed pixels, rows of `width` without gaps. 16 bytes:
// one load.
struct alignas(16) ResizeWindow {
  std::uint32_t offset = 0;  // of its first pixel, in pixels / kWindowAlignment
  std::uint16_t width = 1;
  std::uint16_t height = 1;
  std::uint32_t mirrored = 0;  // 0 or 1: left to right
  std::uint32_t unused = 0;
};

// Pixels: windows begin at multiples of 16 bytes.
constexpr int kWindowAlignment = 4;

struct PackedWindows {
  const std::uint32_t* pixels = nullptr;
  const ResizeWindow* windows = nullptr;  // [images]
  const std::int32_t* labels = nullptr;   // [images]
  const float* weights = nullptr;         // [images]
};

// Resizes each window to side x side pixels with the bytes of Resize()
// (preprocess/resize.h) and goes on as LaunchUnpack(). Requires: a kernel of
// four taps, images > 0, side > 0.
void LaunchResize(const PackedWindows& from, int images, int side,
                  ResizeKernel kernel, const PixelStatistics& statistics,
                  ImageType type, const UnpackedImages& to,
                  cudaStream_t stream);

}  // namespace infeed
