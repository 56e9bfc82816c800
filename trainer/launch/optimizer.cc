#include "trainer/optimizer/optimizer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include "trainer/kernels/kernels.h"
#include "trainer/optimizer/flat_weights.h"
#include "trainer/optimizer/pass.h"

namespace infeed {
namespace {

// The bytes of plain structs or numbers.
template <typename T>
torch::Tensor CopyToDevice(std::span<const T> values,
                           const torch::Device& device) {
  // LibTorch has no const tensors; this tensor is only read.
  return torch::from_blob(const_cast<T*>(values.data()),
                          {static_cast<std::int64_t>(values.size_bytes())},
                          torch::kByte)
      .to(device);
}

template <typename T>
const T* As(const torch::Tensor& bytes) {
  return reinterpret_cast<const T*>(bytes.data_ptr<std::uint8_t>());
}

// Launches the kernel of one kind: reads *rate, sets *l2.
using Update =
    std::function<void(const FlatBuffers&, const DevicePlan&, const float* rate,
                       double* workspace, float* l2, cudaStream_t)>;

Update MomentumOf(const OptimizerOptions& options) {
  const MomentumUpdate update = {.momentum = options.momentum,
                                 .weight_decay = options.weight_decay,
                                 .nesterov = options.nesterov};
  return [update](const FlatBuffers& buffers, const DevicePlan& plan,
                  const float* rate, double* workspace, float* l2,
                  cudaStream_t stream) {
    LaunchMomentum(buffers, plan, update, rate, workspace, l2, stream);
  };
}

// Weight decay is not part of the loss: l2 stays 0.
Update LarsOf(const OptimizerOptions& options) {
  const LarsUpdate update = {.momentum = options.momentum,
                             .weight_decay = options.weight_decay};
  return [update](const FlatBuffers& buffers, const DevicePlan& plan,
                  const float* rate, double* workspace, float* /*l2*/,
                  cudaStream_t stream) {
    LaunchLars(buffers, plan, update, rate, workspace, stream);
  };
}

class CudaOptimizer final : public Optimizer {
 public:
  CudaOptimizer(std::vector<OptimizedParameter> parameters, Update update)
      : parameters_(std::move(parameters)),
        update_(std::move(update)),
        weights_(parameters_),
        averages_(weights_.Zeros()),
        gradients_(weights_.Zeros()),
        gradient_views_(weights_.ViewsOf(gradients_)) {
    const torch::Device device = weights_.flat().device();
    const FlatPlan plan = MakeFlatPlan(weights_.places());
    chunks_ = CopyToDevice<FlatChunk>(plan.chunks, device);
    first_chunks_ = CopyToDevice<std::int32_t>(plan.first_chunks, device);
    plan_ = {.chunks = As<FlatChunk>(chunks_),
             .chunk_count = static_cast<std::int32_t>(plan.chunks.size()),
             .first_chunks = As<std::int32_t>(first_chunks_),
             .parameter_count = static_cast<std::int32_t>(parameters_.size())};
    workspace_ = torch::empty({2 * plan_.chunk_count + plan_.parameter_count},
                              torch::device(device).dtype(torch::kDouble));
  }

  torch::Tensor Step(const torch::Tensor& rate) override {
    return StepUnless({}, rate);
  }

  // refused may be undefined.
  torch::Tensor StepUnless(const torch::Tensor& refused,
                           const torch::Tensor& rate) override {
    const torch::NoGradGuard no_grad;
    // Backward passes allocate gradients separately; the kernel needs them in
    // one buffer.
    at::_foreach_copy_(gradient_views_, TakeGradients(parameters_));
    torch::Tensor l2 = torch::zeros({}, rate.options());
    update_(
        {.weights = weights_.flat().data_ptr<float>(),
         .averages = averages_.data_ptr<float>(),
         .gradients = gradients_.data_ptr<float>(),
         .refused = refused.defined() ? refused.data_ptr<float>() : nullptr},
        plan_, rate.data_ptr<float>(), workspace_.data_ptr<double>(),
        l2.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream());
    return l2;
  }

  [[nodiscard]] NamedTensors State() const override {
    return Named(parameters_, weights_.ViewsOf(averages_));
  }

 private:
  std::vector<OptimizedParameter> parameters_;
  Update update_;
  FlatWeights weights_;
  torch::Tensor averages_;  // from 0
  torch::Tensor gradients_;
  std::vector<torch::Tensor> gradient_views_;
  torch::Tensor chunks_;
  torch::Tensor first_chunks_;
  DevicePlan plan_;  // points to the two tensors above
  torch::Tensor workspace_;
};

}  // namespace

std::unique_ptr<Optimizer> MakeCudaOptimizer(
    const OptimizerOptions& options,
    const std::vector<OptimizedParameter>& parameters) {
  if (parameters.empty() || !parameters.front().weight.is_cuda()) {
    return nullptr;
  }
  switch (options.kind) {
    case OptimizerKind::kMomentum:
      return std::make_unique<CudaOptimizer>(parameters, MomentumOf(options));
    case OptimizerKind::kLars:
      return std::make_unique<CudaOptimizer>(parameters, LarsOf(options));
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
    case OptimizerKind::kNAdamW:
    case OptimizerKind::kLamb:
    case OptimizerKind::kRmsProp:
      break;
  }
  return nullptr;
}

}  // namespace infeed
