#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/kernels/cudnn_graph.h"

// A convolution between two batch norms with parts of these: one kernel of
// cuDNN where it has one.
namespace infeed {

// kSums: y and its sums, for the norm after the convolution. The others are of
// a convolution of relu(norm(x)), which is computed while x is read, and in
// float16 only: kNormed is y and its sums, the gradients those of its weight,
// and of norm(x) with the sums for the gradients of the norm.
enum class ConvFusion { kSums, kNormed, kWeightGradient, kInputGradient };

// x is [images, height, width, channels], the weight [outputs, kernel, kernel,
// channels], y [images, out_height(), out_width(), outputs], all of one type.
struct FusedConv {
  ConvFusion fusion = ConvFusion::kSums;
  ImageType type = ImageType::kBfloat16;
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t outputs = 0;
  std::int64_t kernel = 1;  // side
  std::int64_t stride = 1;
  std::int64_t padding = 0;  // on each side

  [[nodiscard]] std::int64_t out_height() const { return OutOf(height); }
  [[nodiscard]] std::int64_t out_width() const { return OutOf(width); }
  [[nodiscard]] auto operator<=>(const FusedConv&) const = default;

 private:
  [[nodiscard]] std::int64_t OutOf(std::int64_t side) const {
    return (side + 2 * padding - kernel) / stride + 1;
  }
};

// Device memory; see kernels.h. Of each, what its fusion reads and writes.
struct FusedConvMemory {
  const void* x = nullptr;       // before the norm
  const void* weight = nullptr;  // not kWeightGradient
  // kSums, kNormed:
  void* y = nullptr;
  float* sum = nullptr;      // [outputs], of y
  float* squares = nullptr;  // [outputs], the sum of y's square
  // kNormed, kWeightGradient: NormForward::folded.
  const void* folded = nullptr;
  // kWeightGradient, kInputGradient:
  const void* y_gradient = nullptr;
  // kWeightGradient:
  void* weight_gradient = nullptr;
  // kInputGradient: the norm's own, [channels] each, and the gradients of
  // norm(x), its weight and its bias.
  const float* mean = nullptr;
  const float* inverse_std = nullptr;
  const float* norm_weight = nullptr;
  const float* norm_bias = nullptr;
  void* norm_gradient = nullptr;
  float* norm_weight_gradient = nullptr;
  float* norm_bias_gradient = nullptr;
  float* factors = nullptr;  // [3, channels], written: NormSums::factors

  void* workspace = nullptr;  // FusedConvPlan::workspace() bytes
};

// A kernel for a FusedConv. As CudnnPlan.
class FusedConvPlan {
 public:
  [[nodiscard]] static std::vector<FusedConvPlan> Find(const FusedConv& conv,
                                                       bool deterministic,
                                                       std::size_t most,
                                                       cudnnContext* handle);

  [[nodiscard]] std::int64_t workspace() const { return plan_.workspace(); }
  void Launch(const FusedConvMemory& memory, cudnnContext* handle) const;

 private:
  FusedConvPlan(const FusedConv& conv, CudnnPlan plan)
      : conv_(conv), plan_(std::move(plan)) {}

  FusedConv conv_;
  CudnnPlan plan_;
};

}  // namespace infeed
