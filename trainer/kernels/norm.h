#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/kernels.h"
#include "trainer/kernels/max_pool.h"
#include "trainer/kernels/norm_math.h"

// Batch norm in training, fused with the residual sum and the ReLU after it.
// Images are [rows, channels] of an ImageType, channels a multiple of
// kNormChannels; values for each channel are float32. Launches and pointers:
// see kernels.h. Sums always have the same order.
namespace infeed {

constexpr int kNormChannels = 8;

// A batch norm of the residual, which is then added instead of the residual.
struct ResidualNorm {
  const float* weight = nullptr;  // nullptr: the residual is added as it is
  const float* bias = nullptr;
  const float* mean = nullptr;  // with inverse_std, from a NormForward of it
  const float* inverse_std = nullptr;
};

// y = relu(norm(x) + residual), computed in float32 and rounded once.
struct NormForward {
  NormShape shape;
  ImageType type = ImageType::kFloat32;
  const void* x = nullptr;
  const void* residual = nullptr;  // or nullptr
  ResidualNorm residual_norm = {};
  bool relu = true;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float epsilon = 1e-5F;
  float momentum = 0.1F;             // weight of this batch in the moving ones
  float* moving_mean = nullptr;      // or nullptr
  float* moving_variance = nullptr;  // or nullptr
  // [2, channels]: the sums of x and of its square, from the convolution that
  // wrote x (fused_conv.h); nullptr: a pass over x finds the statistics.
  // Variances lose precision where means are far from 0 (SumsKernel).
  const float* sums = nullptr;
  void* y = nullptr;             // nullptr: only the statistics are computed
  float* mean = nullptr;         // kept for the gradient
  float* inverse_std = nullptr;  // kept for the gradient
  // [2, channels] of float16: scale and bias of norm(x) = scale * x + bias, for
  // a convolution that computes it (fused_conv.h); or nullptr. The bias is that
  // of the rounded scale.
  void* folded = nullptr;
  float* workspace = nullptr;  // NormWorkspace() of float32; without sums
};

// The gradient of NormForward. Without ReLU the residual's gradient equals that
// of y, and residual_gradient is not written. For a residual that is normalized
// it is the gradient of that norm's result.
struct NormBackward {
  NormShape shape;
  ImageType type = ImageType::kFloat32;
  const void* x = nullptr;
  // With ReLU and a residual. Without a residual, y is computed from x.
  const void* y = nullptr;
  const void* gradient = nullptr;  // of y
  // A second gradient of y, added to the first and rounded to `type`, as if the
  // sum were stored; or nullptr. Requires: ReLU and a residual.
  const void* more_gradient = nullptr;
  // Of a MaxPoolForward of this norm with ReLU: `gradient` is that of the
  // pooled images, which have the shape `pooled`. Requires: no residual.
  const std::uint8_t* places = nullptr;
  MaxPoolShape pooled = {};
  bool relu = true;
  const float* weight = nullptr;
  const float* bias = nullptr;  // with ReLU, without a residual or places
  const float* mean = nullptr;
  const float* inverse_std = nullptr;
  void* x_gradient = nullptr;
  void* residual_gradient = nullptr;  // with ReLU and a residual
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  // The gradients of weight and bias are known, from the convolution that wrote
  // `gradient` (fused_conv.h), and are read. Requires: neither ReLU nor
  // residual.
  bool sums_known = false;
  float* workspace = nullptr;  // NormWorkspace() of float32; unless sums_known
};

// Elements of float32.
[[nodiscard]] std::int64_t NormWorkspace(const NormShape& shape,
                                         ImageType type);

void LaunchNormForward(const NormForward& norm, cudaStream_t stream);
void LaunchNormBackward(const NormBackward& norm, cudaStream_t stream);

}  // namespace infeed
