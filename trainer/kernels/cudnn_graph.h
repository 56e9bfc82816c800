#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/kernels/kernels.h"

struct cudnnContext;  // a cudnnHandle_t points to one

// Operations that cuDNN computes in one kernel, where it can. The only door to
// its graph API, of which it takes the C functions of cudnn.h.
namespace infeed {

// [N, C, H, W], of a tensor in channels_last order.
using GraphSizes = std::array<std::int64_t, 4>;

// A graph of operations in the order in which they are added. What cuDNN
// rejects leaves a graph without plans. Movable; one thread at a time.
class CudnnGraph {
 public:
  using Tensor = void*;
  enum class Pass { kForward, kWeightGradient, kInputGradient };
  enum class Pointwise { kAdd, kSubtract, kMultiply };

  // Of a norm's backward pass, whose sums are those of each channel.
  struct NormSums {
    Tensor x = nullptr;
    Tensor gradient = nullptr;  // of the norm's result
    Tensor mean = nullptr;
    Tensor inverse_std = nullptr;
    Tensor weight = nullptr;
    // Written: the sums of gradient * (x - mean) * inverse_std and of gradient.
    Tensor weight_gradient = nullptr;
    Tensor bias_gradient = nullptr;
    // Written: a, b and c of x's gradient, a * gradient + b * x + c.
    std::array<Tensor, 3> factors = {};
  };

  CudnnGraph();
  CudnnGraph(CudnnGraph&&) noexcept;
  CudnnGraph& operator=(CudnnGraph&&) noexcept;
  ~CudnnGraph();

  // A tensor in memory, which a launch finds by its id.
  [[nodiscard]] Tensor AddTensor(std::int64_t id, ImageType type,
                                 const GraphSizes& sizes);
  // Between two operations, in float32, never in memory.
  [[nodiscard]] Tensor AddValues(const GraphSizes& sizes);

  // A square convolution of one of the three, computed from the other two.
  void Convolve(Pass pass, std::int64_t stride, std::int64_t padding, Tensor x,
                Tensor weight, Tensor y);
  // y = x op other, of which other may be [1, C, 1, 1].
  void Combine(Pointwise op, Tensor x, Tensor other, Tensor y);
  void Relu(Tensor x, Tensor y);
  // x_gradient = y_gradient where x > 0, else 0.
  void ReluBackward(Tensor x, Tensor y_gradient, Tensor x_gradient);
  // Of each channel of y, and of its square.
  void Sum(Tensor y, Tensor sum, Tensor squares);
  void SumForNorm(const NormSums& sums);

 private:
  friend class CudnnPlan;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// A kernel for a graph. Const members may be called from several threads at
// once; copies share the plan.
class CudnnPlan {
 public:
  // The plans that cuDNN has for this card, at most `most`, the ones that it
  // expects to be fastest first; empty: it has none. `deterministic` leaves out
  // those that may add up in another order in the next run. Must not be called
  // in a capture. The handle is of the card's; it is used by Find() alone.
  [[nodiscard]] static std::vector<CudnnPlan> Find(CudnnGraph graph,
                                                   bool deterministic,
                                                   std::size_t most,
                                                   cudnnContext* handle);

  [[nodiscard]] std::int64_t workspace() const { return workspace_; }  // bytes

  // The device memory of a tensor's id.
  using Memory = std::pair<std::int64_t, const void*>;

  // Enqueues the kernel on the handle's stream: neither waits nor allocates
  // device memory, so that it can be captured. Throws IoError, "cuDNN refused
  // WHAT: ...", when cuDNN rejects it.
  void Launch(std::initializer_list<Memory> memory, const void* workspace,
              std::string_view what, cudnnContext* handle) const;

 private:
  CudnnPlan(std::shared_ptr<void> plan, std::int64_t workspace)
      : plan_(std::move(plan)), workspace_(workspace) {}

  std::shared_ptr<void> plan_;  // with all that it was made from
  std::int64_t workspace_;
};

}  // namespace infeed
