#pragma once

#include <cstdint>

#include <torch/types.h>

#include "trainer/kernels/kernels.h"
#include "trainer/kernels/norm_math.h"

// Tensors of images, [N, C, H, W], as the kernels take them.
namespace infeed {

// Whether it is on a GPU, float32, bfloat16 or float16, and not empty.
[[nodiscard]] bool HasKernels(const torch::Tensor& images);

[[nodiscard]] ImageType ImageTypeOf(const torch::Tensor& images);

// Of their memory in channels_last order.
[[nodiscard]] NormShape RowsOf(const torch::Tensor& images);

// As many float32 on the device of the images.
[[nodiscard]] torch::Tensor NewFloats(const torch::Tensor& images,
                                      std::int64_t count);

}  // namespace infeed
