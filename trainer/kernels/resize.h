#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "pipeline/memory/resize_window.h"
#include "preprocess/resize/side.h"
#include "trainer/kernels/kernels.h"

namespace infeed {

struct PackedWindows {
  const std::uint32_t* pixels = nullptr;
  const ResizeWindow* windows = nullptr;  // [images]
  const std::int32_t* labels = nullptr;   // [images]
  const float* weights = nullptr;         // [images]
};

// Resizes each window to side x side pixels, with the same bytes as Resize()
// (preprocess/resize/resize.h), and then does the same as LaunchUnpack().
// Requires: a kernel of four taps, images > 0, side > 0.
void LaunchResize(const PackedWindows& from, int images, int side,
                  ResizeKernel kernel, const PixelStatistics& statistics,
                  ImageType type, const UnpackedImages& to,
                  cudaStream_t stream);

}  // namespace infeed
