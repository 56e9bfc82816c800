#include "trainer/network/pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/autograd.h>

#include "base/error.h"

namespace infeed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Loops that compilers turn into vector code. Like LibTorch's, a ReLU
// propagates NaN.
inline float Relu(float x) { return std::max(x, 0.0F); }

// Two rows of 2 * width floats to one of width.
void PoolRows(const float* __restrict top, const float* __restrict bottom,
              std::size_t width, float* __restrict y) {
  for (std::size_t i = 0; i < width; ++i) {
    y[i] = (Relu(top[2 * i]) + Relu(top[2 * i + 1]) + Relu(bottom[2 * i]) +
            Relu(bottom[2 * i + 1])) /
           4;
  }
}

// The gradients of a row of 2 * width floats, from those of its averages.
void SpreadRow(const float* __restrict x, const float* __restrict of_y,
               std::size_t width, float* __restrict of_x) {
  for (std::size_t i = 0; i < width; ++i) {
    const float part = of_y[i] / 4;
    of_x[2 * i] = x[2 * i] <= 0 ? 0 : part;
    of_x[2 * i + 1] = x[2 * i + 1] <= 0 ? 0 : part;
  }
}

// Calls work(first, last) for ranges of the rows of y, on several threads.
template <typename Work>
void ForRowsOf(const torch::Tensor& y, const Work& work) {
  constexpr std::int64_t kGrain = 1 << 12;  // floats of y
  if (y.numel() > 0) {
    const std::int64_t width = y.size(3);
    at::parallel_for(0, y.numel() / width,
                     std::max<std::int64_t>(1, kGrain / width), work);
  }
}

class PooledReluFunction
    : public torch::autograd::Function<PooledReluFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context,
                               const torch::Tensor& x) {
    const torch::Tensor dense = x.contiguous();
    torch::Tensor y = at::empty(
        {x.size(0), x.size(1), x.size(2) / 2, x.size(3) / 2}, x.options());
    const auto width = static_cast<std::size_t>(y.size(3));
    const float* const from = dense.data_ptr<float>();
    float* const to = y.data_ptr<float>();
    ForRowsOf(y, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        const float* const top = from + 4 * row * width;
        PoolRows(top, top + 2 * width, width, to + row * width);
      }
    });
    context->save_for_backward({dense});
    return y;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const torch::Tensor x = context->get_saved_variables()[0];
    const torch::Tensor of_y = gradients[0].contiguous();
    torch::Tensor of_x = at::empty_like(x);
    const auto width = static_cast<std::size_t>(of_y.size(3));
    const float* const values = x.data_ptr<float>();
    const float* const from = of_y.data_ptr<float>();
    float* const to = of_x.data_ptr<float>();
    ForRowsOf(of_y, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = 2 * first; row < 2 * last; ++row) {
        SpreadRow(values + 2 * row * width, from + row / 2 * width, width,
                  to + 2 * row * width);
      }
    });
    return {of_x};
  }
};

// x with one more row or column on both ends. at::reflection_pad2d() adds up
// gradients in any order on a GPU. A single row is its own reflection.
torch::Tensor Reflected(const torch::Tensor& x, std::int64_t dimension) {
  const std::int64_t size = x.size(dimension);
  const std::int64_t next = std::min<std::int64_t>(1, size - 1);
  return at::cat({x.narrow(dimension, next, 1), x,
                  x.narrow(dimension, size - 1 - next, 1)},
                 dimension);
}

}  // namespace

torch::Tensor PooledRelu(const torch::Tensor& x) {
  Check(x.size(2) % 2 == 0 && x.size(3) % 2 == 0, "a pool takes whole squares");
  return x.is_cpu() && x.scalar_type() == torch::kFloat
             ? PooledReluFunction::apply(x)
             : at::avg_pool2d(x.relu(), 2);
}

torch::Tensor MaxPooled(const torch::Tensor& x, const MaxPooling& how) {
#ifdef INFEED_CUDA
  if (how.own_kernels && CudaMaxPoolTakes(x)) {
    return CudaMaxPooled(x, how.same);
  }
#endif
  if (!how.same) {
    return at::max_pool2d(x, 3, 2, 1);
  }
  // With ceil_mode a window may reach beyond the last row and column.
  return at::max_pool2d(x, 3, 2, {x.size(2) % 2, x.size(3) % 2}, 1,
                        /*ceil_mode=*/true);
}

torch::Tensor Blurred(const torch::Tensor& x) {
  const torch::Tensor padded = Reflected(Reflected(x, 2), 3);
  return at::avg_pool2d(at::avg_pool2d(padded, 2, 1), 2, 2);
}

}  // namespace infeed
