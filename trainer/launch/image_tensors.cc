#include "trainer/launch/image_tensors.h"

#include <ATen/ATen.h>

namespace infeed {

bool HasKernels(const torch::Tensor& images) {
  const torch::ScalarType type = images.scalar_type();
  return images.is_cuda() && images.numel() > 0 &&
         (type == torch::kFloat || type == torch::kBFloat16 ||
          type == torch::kHalf);
}

ImageType ImageTypeOf(const torch::Tensor& images) {
  return images.scalar_type() == torch::kBFloat16 ? ImageType::kBfloat16
         : images.scalar_type() == torch::kHalf   ? ImageType::kFloat16
                                                  : ImageType::kFloat32;
}

NormShape RowsOf(const torch::Tensor& images) {
  return {.rows = images.numel() / images.size(1),
          .channels = static_cast<int>(images.size(1))};
}

torch::Tensor NewFloats(const torch::Tensor& images, std::int64_t count) {
  return at::empty({count},
                   torch::device(images.device()).dtype(torch::kFloat));
}

}  // namespace infeed
