#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/kernels/kernels.h"

struct cudnnContext;  // a cudnnHandle_t points to one

// A convolution that also sums what it writes, for a norm: one kernel of cuDNN,
// which its graph API makes where it can. The only door to that API, of which
// it takes the C functions of cudnn.h.
namespace infeed {

// x is [images, height, width, channels], the weight [outputs, kernel, kernel,
// channels], y [images, out_height(), out_width(), outputs], all of one type.
struct SummedConv {
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
  [[nodiscard]] auto operator<=>(const SummedConv&) const = default;

 private:
  [[nodiscard]] std::int64_t OutOf(std::int64_t side) const {
    return (side + 2 * padding - kernel) / stride + 1;
  }
};

// Device memory; see kernels.h.
struct SummedConvMemory {
  const void* x = nullptr;
  const void* weight = nullptr;
  void* y = nullptr;
  float* sum = nullptr;       // [outputs], of y
  float* squares = nullptr;   // [outputs], the sum of y's square
  void* workspace = nullptr;  // SummedConvPlan::workspace() bytes
};

// A kernel for a SummedConv. Const members may be called from several threads
// at once; copies share the plan.
class SummedConvPlan {
 public:
  // The plans that cuDNN has for this card, at most `most`, the ones that it
  // expects to be fastest first; empty: it has none. `deterministic` leaves out
  // those that may add up in another order in the next run. Must not be called
  // in a capture. The handle is of the card's; it is used by Find() alone.
  [[nodiscard]] static std::vector<SummedConvPlan> Find(const SummedConv& conv,
                                                        bool deterministic,
                                                        std::size_t most,
                                                        cudnnContext* handle);

  [[nodiscard]] std::int64_t workspace() const { return workspace_; }

  // Enqueues the kernel on the handle's stream: neither waits nor allocates
  // device memory, so that it can be captured. Throws IoError when cuDNN
  // rejects it.
  void Launch(const SummedConvMemory& memory, cudnnContext* handle) const;

 private:
  SummedConvPlan(std::shared_ptr<void> plan, std::int64_t workspace)
      : plan_(std::move(plan)), workspace_(workspace) {}

  std::shared_ptr<void> plan_;  // with all that it was made from
  std::int64_t workspace_;
};

}  // namespace infeed
