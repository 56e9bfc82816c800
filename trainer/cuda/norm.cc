#include "trainer/kernels/norm.h"

#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cudnn/Handle.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "trainer/cuda/image_tensors.h"
#include "trainer/kernels/fused_conv.h"
#include "trainer/network/convolution.h"
#include "trainer/network/fused_norm.h"

namespace infeed {
namespace {

// nullptr for an undefined tensor.
void* DataOf(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr() : nullptr;
}

// The arguments that every norm of x has.
NormForward ForwardOf(const torch::Tensor& x, const NormTensors& norm,
                      const NormStatistics& statistics,
                      const torch::Tensor& workspace) {
  return {.shape = RowsOf(x),
          .type = ImageTypeOf(x),
          .x = x.data_ptr(),
          .weight = norm.weight.data_ptr<float>(),
          .bias = norm.bias.data_ptr<float>(),
          .epsilon = static_cast<float>(norm.epsilon),
          .momentum = static_cast<float>(norm.momentum),
          .moving_mean = norm.moving_mean.data_ptr<float>(),
          .moving_variance = norm.moving_variance.data_ptr<float>(),
          .sums = norm.sums.defined() ? norm.sums.data_ptr<float>() : nullptr,
          .mean = statistics.mean.data_ptr<float>(),
          .inverse_std = statistics.inverse_std.data_ptr<float>(),
          .workspace = workspace.data_ptr<float>()};
}

NormStatistics NewStatistics(const torch::Tensor& x) {
  return {.mean = NewFloats(x, x.size(1)),
          .inverse_std = NewFloats(x, x.size(1))};
}

FusedConv ShapeOf(const SquareConvolution& of) {
  return {.type = ImageTypeOf(of.x),
          .images = of.x.size(0),
          .height = of.x.size(2),
          .width = of.x.size(3),
          .channels = of.x.size(1),
          .outputs = of.weight.size(0),
          .kernel = of.weight.size(2),
          .stride = of.stride,
          .padding = of.padding};
}

SummedImages Launch(const FusedConvPlan& plan, const SquareConvolution& of) {
  const FusedConv shape = ShapeOf(of);
  const SummedImages result(
      at::empty(
          {shape.images, shape.outputs, shape.out_height(), shape.out_width()},
          of.x.options(), at::MemoryFormat::ChannelsLast),
      NewFloats(of.x, 2 * shape.outputs).view({2, shape.outputs}));
  const torch::Tensor workspace =
      at::empty({plan.workspace()}, of.x.options().dtype(torch::kByte));
  plan.Launch({.x = of.x.data_ptr(),
               .weight = of.weight.data_ptr(),
               .y = result.x.data_ptr(),
               .sum = result.sums.data_ptr<float>(),
               .squares = result.sums.data_ptr<float>() + shape.outputs,
               .workspace = workspace.data_ptr()},
              at::native::getCudnnHandle());
  return result;
}

// Milliseconds of some launches, after one that loads the kernel.
float TimeOf(const FusedConvPlan& plan, const SquareConvolution& of) {
  constexpr int kLaunches = 3;
  at::cuda::CUDAEvent start(cudaEventDefault);
  at::cuda::CUDAEvent end(cudaEventDefault);
  static_cast<void>(Launch(plan, of));
  start.record();
  for (int i = 0; i < kLaunches; ++i) {
    static_cast<void>(Launch(plan, of));
  }
  end.record();
  end.synchronize();
  return start.elapsed_time(end);
}

// The first plan where LibTorch may not time algorithms, else the fastest of
// some.
std::optional<FusedConvPlan> ChoosePlan(const SquareConvolution& of) {
  // cuDNN may compile each, for a second or so of the host.
  constexpr std::size_t kMostTimed = 3;
  const at::Context& libraries = at::globalContext();
  const std::vector<FusedConvPlan> plans =
      FusedConvPlan::Find(ShapeOf(of), libraries.deterministicCuDNN(),
                          libraries.benchmarkCuDNN() ? kMostTimed : 1,
                          at::native::getCudnnHandle());
  std::optional<FusedConvPlan> best;
  float least = 0;
  for (const FusedConvPlan& plan : plans) {
    const float time = plans.size() > 1 ? TimeOf(plan, of) : 0;
    if (!best || time < least) {
      best = plan;
      least = time;
    }
  }
  return best;
}

// The chosen plans of the process; nullopt where cuDNN has none.
class ConvPlans {
 public:
  [[nodiscard]] std::optional<FusedConvPlan> Find(const SquareConvolution& of) {
    const Key key = {.card = of.x.get_device(),
                     .deterministic = at::globalContext().deterministicCuDNN(),
                     .shape = ShapeOf(of)};
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find(key);
    if (known != plans_.end()) {
      return known->second;
    }
    if (c10::cuda::currentStreamCaptureStatusMayInitCtx() !=
        c10::cuda::CaptureStatus::None) {
      return std::nullopt;
    }
    return plans_[key] = ChoosePlan(of);
  }

 private:
  struct Key {
    std::int64_t card;
    bool deterministic;
    FusedConv shape;
    [[nodiscard]] auto operator<=>(const Key&) const = default;
  };
  std::mutex mutex_;
  std::map<Key, std::optional<FusedConvPlan>> plans_;
};

ConvPlans& Plans() {
  static ConvPlans plans;
  return plans;
}

}  // namespace

bool CudaConvolutionSums(const SquareConvolution& convolution) {
  if (!HasKernels(convolution.x) ||
      ImageTypeOf(convolution.x) == ImageType::kFloat32) {
    return false;
  }
  const c10::cuda::CUDAGuard guard(convolution.x.device());
  return Plans().Find(convolution).has_value();
}

SummedImages CudaSummedConvolution(const SquareConvolution& convolution) {
  const c10::cuda::CUDAGuard guard(convolution.x.device());
  return Launch(Plans().Find(convolution).value(), convolution);
}

bool CudaNormTakes(const torch::Tensor& x) {
  return HasKernels(x) && x.size(1) % kNormChannels == 0;
}

NormOutputs CudaNormForward(const torch::Tensor& x, const NormTensors& norm,
                            const NormResidual& residual, bool relu) {
  const c10::cuda::CUDAGuard guard(x.device());
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  const torch::Tensor workspace =
      NewFloats(x, NormWorkspace(RowsOf(x), ImageTypeOf(x)));
  NormOutputs outputs = {.y = torch::empty_like(x), .of_x = NewStatistics(x)};
  NormForward launch = ForwardOf(x, norm, outputs.of_x, workspace);
  launch.residual = DataOf(residual.x);
  launch.relu = relu;
  launch.y = outputs.y.data_ptr();
  if (residual.norm) {
    outputs.of_residual = NewStatistics(x);
    const NormForward statistics =
        ForwardOf(residual.x, *residual.norm, outputs.of_residual, workspace);
    LaunchNormForward(statistics, stream);
    launch.residual_norm = {.weight = statistics.weight,
                            .bias = statistics.bias,
                            .mean = statistics.mean,
                            .inverse_std = statistics.inverse_std};
  }
  LaunchNormForward(launch, stream);
  return outputs;
}

NormGradients CudaNormBackward(const NormBackwardInputs& inputs) {
  const torch::Tensor& x = inputs.x;
  const c10::cuda::CUDAGuard guard(x.device());
  const NormShape shape = RowsOf(x);
  NormGradients gradients = {.x = torch::empty_like(x),
                             .weight = NewFloats(x, x.size(1)),
                             .bias = NewFloats(x, x.size(1)),
                             .residual = {}};
  if (inputs.has_residual) {
    gradients.residual = inputs.relu ? torch::empty_like(x) : inputs.gradient;
  }
  const torch::Tensor workspace =
      NewFloats(x, NormWorkspace(shape, ImageTypeOf(x)));
  LaunchNormBackward(
      {.shape = shape,
       .type = ImageTypeOf(x),
       .x = x.data_ptr(),
       .y = DataOf(inputs.y),
       .gradient = inputs.gradient.data_ptr(),
       .more_gradient = DataOf(inputs.more_gradient),
       .relu = inputs.relu,
       .weight = inputs.weight.data_ptr<float>(),
       .bias = inputs.bias.data_ptr<float>(),
       .mean = inputs.statistics.mean.data_ptr<float>(),
       .inverse_std = inputs.statistics.inverse_std.data_ptr<float>(),
       .x_gradient = gradients.x.data_ptr(),
       .residual_gradient = DataOf(gradients.residual),
       .weight_gradient = gradients.weight.data_ptr<float>(),
       .bias_gradient = gradients.bias.data_ptr<float>(),
       .workspace = workspace.data_ptr<float>()},
      c10::cuda::getCurrentCUDAStream());
  return gradients;
}

}  // namespace infeed
