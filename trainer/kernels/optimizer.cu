#include <utility>

#include "trainer/kernels/kernels.h"
#include "trainer/kernels/optimizer_math.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

using Floats = Vector<float>;

__device__ bool IsRefused(const FlatBuffers& buffers) {
  return buffers.refused != nullptr && *buffers.refused != 0;
}

// Updates four elements from `at` on by update(weight, average, gradient).
template <typename Update>
__device__ void UpdateFour(const FlatBuffers& buffers, std::int64_t at,
                           const Update& update) {
  Floats weights = LoadVector(buffers.weights + at);
  Floats averages = LoadVector(buffers.averages + at);
  const Floats gradients = LoadVector(buffers.gradients + at);
#pragma unroll
  for (int i = 0; i < Floats::kSize; ++i) {
    update(weights.at[i], averages.at[i], gradients.at[i]);
  }
  StoreVector(buffers.weights + at, weights);
  StoreVector(buffers.averages + at, averages);
}

template <typename Update>
__device__ void UpdateChunk(const FlatBuffers& buffers, const FlatChunk& chunk,
                            const Update& update) {
  const int fours = chunk.count / Floats::kSize;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < fours; i += kThreads) {
    UpdateFour(buffers, chunk.begin + i * Floats::kSize, update);
  }
  const int rest = fours * Floats::kSize + static_cast<int>(threadIdx.x);
  if (rest < chunk.count) {
    const std::int64_t at = chunk.begin + rest;
    update(buffers.weights[at], buffers.averages[at], buffers.gradients[at]);
  }
}

__global__ void __launch_bounds__(kThreads)
    MomentumKernel(FlatBuffers buffers, const FlatChunk* chunks,
                   MomentumFactors factors, const float* rate, double* sums) {
  const FlatChunk chunk = chunks[blockIdx.x];
  factors.rate = *rate;
  factors.decay = chunk.decayed != 0 ? factors.decay : 0;
  const bool is_refused = IsRefused(buffers);
  float squares = 0;
  UpdateChunk(buffers, chunk,
              [&](float& weight, float& average, float gradient) {
                squares += weight * weight;
                if (!is_refused) {
                  UpdateMomentum(weight, average, gradient, factors);
                }
              });
  const double sum = SumOfBlock(chunk.decayed != 0 ? squares : 0);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    L2Kernel(const double* sums, int count, double half_decay, float* l2) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    sum += sums[i];
  }
  sum = SumOfBlock(sum);
  if (threadIdx.x == 0) {
    *l2 = static_cast<float>(half_decay * sum);
  }
}

// The sums of squares of each chunk's weights, for all chunks, followed by
// those of its gradients. Only for parameters that are decayed.
__global__ void __launch_bounds__(kThreads)
    SquaresKernel(FlatBuffers buffers, const FlatChunk* chunks, double* sums) {
  const FlatChunk chunk = chunks[blockIdx.x];
  if (chunk.decayed == 0) {
    return;
  }
  float weights = 0;
  float gradients = 0;
  const auto add = [&](float weight, float gradient) {
    weights += weight * weight;
    gradients += gradient * gradient;
  };
  const int fours = chunk.count / Floats::kSize;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < fours; i += kThreads) {
    const std::int64_t at = chunk.begin + i * Floats::kSize;
    const Floats w = LoadVector(buffers.weights + at);
    const Floats g = LoadVector(buffers.gradients + at);
#pragma unroll
    for (int k = 0; k < Floats::kSize; ++k) {
      add(w.at[k], g.at[k]);
    }
  }
  const int rest = fours * Floats::kSize + static_cast<int>(threadIdx.x);
  if (rest < chunk.count) {
    add(buffers.weights[chunk.begin + rest],
        buffers.gradients[chunk.begin + rest]);
  }
  const double weight_sum = SumOfBlock(weights);
  const double gradient_sum = SumOfBlock(gradients);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = weight_sum;
    sums[gridDim.x + blockIdx.x] = gradient_sum;
  }
}

// Each block computes r of one parameter.
__global__ void __launch_bounds__(kThreads)
    LarsRateKernel(DevicePlan plan, LarsUpdate update, const float* rate,
                   const double* sums, double* rates) {
  const int parameter = static_cast<int>(blockIdx.x);
  const int first = plan.first_chunks[parameter];
  const int end = plan.first_chunks[parameter + 1];
  if (plan.chunks[first].decayed == 0) {
    if (threadIdx.x == 0) {
      rates[parameter] = *rate;
    }
    return;
  }
  double weights = 0;
  double gradients = 0;
  for (int i = first + static_cast<int>(threadIdx.x); i < end; i += kThreads) {
    weights += sums[i];
    gradients += sums[plan.chunk_count + i];
  }
  weights = SumOfBlock(weights);
  gradients = SumOfBlock(gradients);
  if (threadIdx.x == 0) {
    rates[parameter] = LarsRate(*rate, update.trust, update.weight_decay,
                                sqrt(weights), sqrt(gradients));
  }
}

__global__ void __launch_bounds__(kThreads)
    LarsKernel(FlatBuffers buffers, const FlatChunk* chunks,
               LarsFactors factors, const double* rates) {
  if (IsRefused(buffers)) {
    return;
  }
  const FlatChunk chunk = chunks[blockIdx.x];
  factors.rate = static_cast<float>(rates[chunk.parameter]);
  factors.decay = chunk.decayed != 0 ? factors.decay : 0;
  UpdateChunk(buffers, chunk,
              [&](float& weight, float& average, float gradient) {
                UpdateLars(weight, average, gradient, factors);
              });
}

}  // namespace

void LaunchMomentum(const FlatBuffers& buffers, const DevicePlan& plan,
                    const MomentumUpdate& update, const float* rate,
                    double* workspace, float* l2, cudaStream_t stream) {
  if (plan.chunk_count > 0) {
    MomentumKernel<<<plan.chunk_count, kThreads, 0, stream>>>(
        buffers, plan.chunks,
        MakeMomentumFactors(update.momentum, update.nesterov,
                            update.weight_decay),
        rate, workspace);
    CheckLaunch("MomentumKernel");
  }
  L2Kernel<<<1, kThreads, 0, stream>>>(workspace, plan.chunk_count,
                                       update.weight_decay / 2, l2);
  CheckLaunch("L2Kernel");
}

void LaunchLars(const FlatBuffers& buffers, const DevicePlan& plan,
                const LarsUpdate& update, const float* rate, double* workspace,
                cudaStream_t stream) {
  if (plan.chunk_count == 0) {
    return;
  }
  double* const rates = workspace + std::int64_t{2} * plan.chunk_count;
  SquaresKernel<<<plan.chunk_count, kThreads, 0, stream>>>(buffers, plan.chunks,
                                                           workspace);
  CheckLaunch("SquaresKernel");
  LarsRateKernel<<<plan.parameter_count, kThreads, 0, stream>>>(
      plan, update, rate, workspace, rates);
  CheckLaunch("LarsRateKernel");
  const LarsFactors factors = {
      .rate = 0,
      .momentum = static_cast<float>(update.momentum),
      .decay = static_cast<float>(update.weight_decay)};
  LarsKernel<<<plan.chunk_count, kThreads, 0, stream>>>(buffers, plan.chunks,
                                                        factors, rates);
  CheckLaunch("LarsKernel");
}

}  // namespace infeed
