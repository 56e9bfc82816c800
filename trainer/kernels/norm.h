#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/kernels.h"
#include "trainer/kernels/norm_math.h"

// Batch norm in training, with what follows it in a residual network: a sum
// and ReLU. Images are [rows, channels], float32 or bfloat16, channels a
// multiple of kNormChannels; numbers of a channel are float32. What a launch
// promises, and asks of pointers: kernels.h. Sums are made in one order
// always.
namespace infeed {

constexpr int kNormChannels = 8;

// y = relu(norm(x) + residual), in float32 and rounded once.
struct NormForward {
  NormShape shape;
  ImageType type = ImageType::kFloat32;
  const void* x = nullptr;
  const void* residual = nullptr;  // or nullptr
  bool relu = true;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float epsilon = 1e-5F;
  float momentum = 0.1F;             // of this batch in the moving ones
  float* moving_mean = nullptr;      // or nullptr
  float* moving_variance = nullptr;  // or nullptr
  void* y = nullptr;
  float* mean = nullptr;         // kept for the gradient
  float* inverse_std = nullptr;  // kept for the gradient
  float* workspace = nullptr;    // NormWorkspace() of float32
};

// Its gradient. y is needed with ReLU. The residual's gradient is that of y
// where there is no ReLU, and residual_gradient is not written then.
struct NormBackward {
  NormShape shape;
  ImageType type = ImageType::kFloat32;
  const void* x = nullptr;
  const void* y = nullptr;
  const void* gradient = nullptr;  // of y
  bool relu = true;
  const float* weight = nullptr;
  const float* mean = nullptr;
  const float* inverse_std = nullptr;
  void* x_gradient = nullptr;
  void* residual_gradient = nullptr;  // or nullptr
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* workspace = nullptr;  // NormWorkspace() of float32
};

// Elements of float32.
[[nodiscard]] std::int64_t NormWorkspace(const NormShape& shape,
                                         ImageType type);

void LaunchNormForward(const NormForward& norm, cudaStream_t stream);
void LaunchNormBackward(const NormBackward& norm, cudaStream_t stream);

}  // namespace infeed
