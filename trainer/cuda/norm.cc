#include "trainer/kernels/norm.h"

#include <algorithm>
#include <array>
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
#include "trainer/network/normed_convolution.h"

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

// ---- Convolutions ----

// Before its norm, whose tensors are undefined where it has none.
struct ConvInputs {
  SquareConvolution convolution;
  NormTensors norm = {};
  NormStatistics statistics = {};
  torch::Tensor folded = {};
  torch::Tensor y_gradient = {};
};

FusedConv ShapeOf(const SquareConvolution& of, ConvFusion fusion) {
  return {.fusion = fusion,
          .type = ImageTypeOf(of.x),
          .images = of.x.size(0),
          .height = of.x.size(2),
          .width = of.x.size(3),
          .channels = of.x.size(1),
          .outputs = of.weight.size(0),
          .kernel = of.weight.size(2),
          .stride = of.stride,
          .padding = of.padding};
}

torch::Tensor NewResult(const SquareConvolution& of) {
  const FusedConv shape = ShapeOf(of, ConvFusion::kSums);
  return at::empty(
      {shape.images, shape.outputs, shape.out_height(), shape.out_width()},
      of.x.options(), at::MemoryFormat::ChannelsLast);
}

void Launch(const FusedConvPlan& plan, FusedConvMemory memory,
            const ConvInputs& inputs) {
  const torch::Tensor workspace = at::empty(
      {plan.workspace()}, inputs.convolution.x.options().dtype(torch::kByte));
  memory.x = inputs.convolution.x.data_ptr();
  memory.workspace = workspace.data_ptr();
  plan.Launch(memory, at::native::getCudnnHandle());
}

// Of kSums, or of kNormed.
SummedImages LaunchForward(const FusedConvPlan& plan,
                           const ConvInputs& inputs) {
  const std::int64_t outputs = inputs.convolution.weight.size(0);
  const torch::Tensor sums = NewFloats(inputs.convolution.x, 2 * outputs);
  const SummedImages result(NewResult(inputs.convolution),
                            sums.view({2, outputs}));
  Launch(plan,
         {.weight = inputs.convolution.weight.data_ptr(),
          .y = result.x.data_ptr(),
          .sum = sums.data_ptr<float>(),
          .squares = sums.data_ptr<float>() + outputs,
          .folded = DataOf(inputs.folded)},
         inputs);
  return result;
}

torch::Tensor LaunchWeightGradient(const FusedConvPlan& plan,
                                   const ConvInputs& inputs) {
  torch::Tensor found = torch::empty_like(inputs.convolution.weight);
  Launch(plan,
         {.folded = inputs.folded.data_ptr(),
          .y_gradient = inputs.y_gradient.data_ptr(),
          .weight_gradient = found.data_ptr()},
         inputs);
  return found;
}

// The gradient of norm(x), and those of the norm's weight and bias.
NormGradients LaunchInputGradient(const FusedConvPlan& plan,
                                  const ConvInputs& inputs) {
  const torch::Tensor& x = inputs.convolution.x;
  const torch::Tensor factors = NewFloats(x, 3 * x.size(1));
  NormGradients found = {.x = torch::empty_like(x),
                         .weight = NewFloats(x, x.size(1)),
                         .bias = NewFloats(x, x.size(1)),
                         .residual = {}};
  Launch(plan,
         {.weight = inputs.convolution.weight.data_ptr(),
          .y_gradient = inputs.y_gradient.data_ptr(),
          .mean = inputs.statistics.mean.data_ptr<float>(),
          .inverse_std = inputs.statistics.inverse_std.data_ptr<float>(),
          .norm_weight = inputs.norm.weight.data_ptr<float>(),
          .norm_bias = inputs.norm.bias.data_ptr<float>(),
          .norm_gradient = found.x.data_ptr(),
          .norm_weight_gradient = found.weight.data_ptr<float>(),
          .norm_bias_gradient = found.bias.data_ptr<float>(),
          .factors = factors.data_ptr<float>()},
         inputs);
  return found;
}

// Other inputs than x and the weight, to time a kernel: of any values.
ConvInputs AnyInputs(const SquareConvolution& of) {
  const NormStatistics statistics = NewStatistics(of.x);
  return {.convolution = of,
          .norm = {.weight = statistics.mean,
                   .bias = statistics.mean,
                   .moving_mean = {},
                   .moving_variance = {}},
          .statistics = statistics,
          .folded = at::empty({2, of.x.size(1)}, of.x.options()),
          .y_gradient = NewResult(of)};
}

void Try(const FusedConvPlan& plan, ConvFusion fusion,
         const ConvInputs& inputs) {
  switch (fusion) {
    case ConvFusion::kSums:
    case ConvFusion::kNormed:
      static_cast<void>(LaunchForward(plan, inputs));
      break;
    case ConvFusion::kWeightGradient:
      static_cast<void>(LaunchWeightGradient(plan, inputs));
      break;
    case ConvFusion::kInputGradient:
      static_cast<void>(LaunchInputGradient(plan, inputs));
      break;
  }
}

// Milliseconds of some launches, after one that loads the kernel.
float TimeOf(const FusedConvPlan& plan, ConvFusion fusion,
             const ConvInputs& inputs) {
  constexpr int kLaunches = 3;
  at::cuda::CUDAEvent start(cudaEventDefault);
  at::cuda::CUDAEvent end(cudaEventDefault);
  Try(plan, fusion, inputs);
  start.record();
  for (int i = 0; i < kLaunches; ++i) {
    Try(plan, fusion, inputs);
  }
  end.record();
  end.synchronize();
  return start.elapsed_time(end);
}

// The first plan where LibTorch may not time algorithms, else the fastest of
// some.
std::optional<FusedConvPlan> ChoosePlan(const SquareConvolution& of,
                                        ConvFusion fusion) {
  // cuDNN may compile each, for a second or so of the host.
  constexpr std::size_t kMostTimed = 3;
  const at::Context& libraries = at::globalContext();
  const std::vector<FusedConvPlan> plans =
      FusedConvPlan::Find(ShapeOf(of, fusion), libraries.deterministicCuDNN(),
                          libraries.benchmarkCuDNN() ? kMostTimed : 1,
                          at::native::getCudnnHandle());
  if (plans.size() < 2) {
    return plans.empty() ? std::nullopt : std::optional(plans[0]);
  }
  const ConvInputs inputs = AnyInputs(of);
  std::optional<FusedConvPlan> best;
  float least = 0;
  for (const FusedConvPlan& plan : plans) {
    const float time = TimeOf(plan, fusion, inputs);
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
  [[nodiscard]] std::optional<FusedConvPlan> Find(const SquareConvolution& of,
                                                  ConvFusion fusion) {
    const Key key = {.card = of.x.get_device(),
                     .deterministic = at::globalContext().deterministicCuDNN(),
                     .shape = ShapeOf(of, fusion)};
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find(key);
    if (known != plans_.end()) {
      return known->second;
    }
    if (c10::cuda::currentStreamCaptureStatusMayInitCtx() !=
        c10::cuda::CaptureStatus::None) {
      return std::nullopt;
    }
    return plans_[key] = ChoosePlan(of, fusion);
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
  return Plans().Find(convolution, ConvFusion::kSums).has_value();
}

SummedImages CudaSummedConvolution(const SquareConvolution& convolution) {
  const c10::cuda::CUDAGuard guard(convolution.x.device());
  return LaunchForward(Plans().Find(convolution, ConvFusion::kSums).value(),
                       {.convolution = convolution});
}

bool CudaConvolvesNormed(const SquareConvolution& convolution) {
  const c10::cuda::CUDAGuard guard(convolution.x.device());
  return std::ranges::all_of(
      std::array{ConvFusion::kInputGradient, ConvFusion::kWeightGradient,
                 ConvFusion::kNormed},
      [&](ConvFusion fusion) {
        return Plans().Find(convolution, fusion).has_value();
      });
}

NormedConvolutionOutputs CudaNormedConvolution(
    const SquareConvolution& convolution, const NormTensors& norm) {
  const torch::Tensor& x = convolution.x;
  const c10::cuda::CUDAGuard guard(x.device());
  NormedConvolutionOutputs outputs = {
      .y = {},
      .statistics = NewStatistics(x),
      .folded = at::empty({2, x.size(1)}, x.options())};
  const torch::Tensor workspace =
      NewFloats(x, NormWorkspace(RowsOf(x), ImageTypeOf(x)));
  NormForward statistics = ForwardOf(x, norm, outputs.statistics, workspace);
  statistics.folded = outputs.folded.data_ptr();
  LaunchNormForward(statistics, c10::cuda::getCurrentCUDAStream());
  outputs.y =
      LaunchForward(Plans().Find(convolution, ConvFusion::kNormed).value(),
                    {.convolution = convolution, .folded = outputs.folded});
  return outputs;
}

NormedConvolutionGradients CudaNormedConvolutionBackward(
    const SquareConvolution& convolution, const NormTensors& norm,
    const NormStatistics& statistics, const torch::Tensor& folded,
    const torch::Tensor& y_gradient) {
  const torch::Tensor& x = convolution.x;
  const c10::cuda::CUDAGuard guard(x.device());
  const ConvInputs inputs = {.convolution = convolution,
                             .norm = norm,
                             .statistics = statistics,
                             .folded = folded,
                             .y_gradient = y_gradient};
  const NormGradients of_norm = LaunchInputGradient(
      Plans().Find(convolution, ConvFusion::kInputGradient).value(), inputs);
  NormedConvolutionGradients gradients = {.x = torch::empty_like(x),
                                          .norm_weight = of_norm.weight,
                                          .norm_bias = of_norm.bias,
                                          .weight = {}};
  LaunchNormBackward({.shape = RowsOf(x),
                      .type = ImageTypeOf(x),
                      .x = x.data_ptr(),
                      .gradient = of_norm.x.data_ptr(),
                      .relu = false,
                      .weight = norm.weight.data_ptr<float>(),
                      .mean = statistics.mean.data_ptr<float>(),
                      .inverse_std = statistics.inverse_std.data_ptr<float>(),
                      .x_gradient = gradients.x.data_ptr(),
                      .weight_gradient = of_norm.weight.data_ptr<float>(),
                      .bias_gradient = of_norm.bias.data_ptr<float>(),
                      .sums_known = true},
                     c10::cuda::getCurrentCUDAStream());
  gradients.weight = LaunchWeightGradient(
      Plans().Find(convolution, ConvFusion::kWeightGradient).value(), inputs);
  return gradients;
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
