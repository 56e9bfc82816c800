#include "trainer/kernels/fused_conv.h"

#include <array>
#include <utility>

namespace infeed {
namespace {

using Pass = CudnnGraph::Pass;
using Pointwise = CudnnGraph::Pointwise;
using Tensor = CudnnGraph::Tensor;

// By which a launch finds the tensors' memory.
enum Id : std::int64_t {
  kX = 1,
  kWeight,
  kY,
  kSum,
  kSquares,
  kScale,
  kBias,
  kYGradient,
  kWeightGradient,
  kMean,
  kInverseStd,
  kNormWeight,
  kNormBias,
  kNormGradient,
  kNormWeightGradient,
  kNormBiasGradient,
  kFactors,  // three
};

// Makes the graphs, in the forms for which cuDNN has kernels.
class GraphBuilder {
 public:
  explicit GraphBuilder(const FusedConv& conv)
      : conv_(conv),
        x_(graph_.AddTensor(kX, conv.type, InputSizes())),
        weight_(graph_.AddTensor(
            conv.fusion == ConvFusion::kWeightGradient ? kWeightGradient
                                                       : kWeight,
            conv.type,
            {conv.outputs, conv.channels, conv.kernel, conv.kernel})),
        y_(graph_.AddTensor(
            IsForward() ? kY : kYGradient, conv.type,
            {conv.images, conv.outputs, conv.out_height(), conv.out_width()})) {
  }

  CudnnGraph Build() {
    switch (conv_.fusion) {
      case ConvFusion::kSums:
        AddForward(x_);
        break;
      case ConvFusion::kNormed:
        AddForward(Normed());
        break;
      case ConvFusion::kWeightGradient:
        Convolve(Pass::kWeightGradient, Normed());
        break;
      case ConvFusion::kInputGradient:
        AddInputGradient();
        break;
    }
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool IsForward() const {
    return conv_.fusion == ConvFusion::kSums ||
           conv_.fusion == ConvFusion::kNormed;
  }
  [[nodiscard]] GraphSizes InputSizes() const {
    return {conv_.images, conv_.channels, conv_.height, conv_.width};
  }

  void Convolve(Pass pass, Tensor x) {
    graph_.Convolve(pass, conv_.stride, conv_.padding, x, weight_, y_);
  }

  void AddForward(Tensor x) {
    Convolve(Pass::kForward, x);
    graph_.Sum(y_, AddChannels(kSum, conv_.outputs),
               AddChannels(kSquares, conv_.outputs));
  }

  // relu(norm(x)), with the norm as x * scale + bias in the type of x.
  Tensor Normed() {
    Tensor values = x_;
    for (const auto& [op, id] : {std::pair(Pointwise::kMultiply, kScale),
                                 std::pair(Pointwise::kAdd, kBias)}) {
      values =
          Combined(op, values,
                   graph_.AddTensor(id, conv_.type, {1, conv_.channels, 1, 1}));
    }
    const Tensor result = graph_.AddValues(InputSizes());
    graph_.Relu(values, result);
    return result;
  }

  void AddInputGradient() {
    const Tensor gradient = graph_.AddValues(InputSizes());
    Convolve(Pass::kInputGradient, gradient);
    const auto channels = [&](std::int64_t id) {
      return AddChannels(id, conv_.channels);
    };
    const Tensor mean = channels(kMean);
    const Tensor inverse_std = channels(kInverseStd);
    const Tensor norm_weight = channels(kNormWeight);
    Tensor values = Combined(Pointwise::kSubtract, x_, mean);
    values = Combined(Pointwise::kMultiply, values, inverse_std);
    values = Combined(Pointwise::kMultiply, values, norm_weight);
    values = Combined(Pointwise::kAdd, values, channels(kNormBias));
    const Tensor masked =
        graph_.AddTensor(kNormGradient, conv_.type, InputSizes());
    graph_.ReluBackward(values, gradient, masked);
    graph_.SumForNorm({.x = x_,
                       .gradient = masked,
                       .mean = mean,
                       .inverse_std = inverse_std,
                       .weight = norm_weight,
                       .weight_gradient = channels(kNormWeightGradient),
                       .bias_gradient = channels(kNormBiasGradient),
                       .factors = {channels(kFactors), channels(kFactors + 1),
                                   channels(kFactors + 2)}});
  }

  // x op other, in float32.
  Tensor Combined(Pointwise op, Tensor x, Tensor other) {
    const Tensor result = graph_.AddValues(InputSizes());
    graph_.Combine(op, x, other, result);
    return result;
  }

  Tensor AddChannels(std::int64_t id, std::int64_t channels) {
    return graph_.AddTensor(id, ImageType::kFloat32, {1, channels, 1, 1});
  }

  FusedConv conv_;
  CudnnGraph graph_;
  Tensor x_;
  Tensor weight_;
  Tensor y_;
};

}  // namespace

std::vector<FusedConvPlan> FusedConvPlan::Find(const FusedConv& conv,
                                               bool deterministic,
                                               std::size_t most,
                                               cudnnContext* handle) {
  std::vector<FusedConvPlan> plans;
  for (CudnnPlan& plan : CudnnPlan::Find(GraphBuilder(conv).Build(),
                                         deterministic, most, handle)) {
    plans.push_back(FusedConvPlan(conv, std::move(plan)));
  }
  return plans;
}

void FusedConvPlan::Launch(const FusedConvMemory& memory,
                           cudnnContext* handle) const {
  // Of 16 bits each.
  const auto* const scale = static_cast<const std::uint16_t*>(memory.folded);
  const auto* const bias = scale == nullptr ? nullptr : scale + conv_.channels;
  switch (conv_.fusion) {
    case ConvFusion::kSums:
      return plan_.Launch({{kX, memory.x},
                           {kWeight, memory.weight},
                           {kY, memory.y},
                           {kSum, memory.sum},
                           {kSquares, memory.squares}},
                          memory.workspace,
                          "a convolution that sums its result", handle);
    case ConvFusion::kNormed:
      return plan_.Launch({{kX, memory.x},
                           {kScale, scale},
                           {kBias, bias},
                           {kWeight, memory.weight},
                           {kY, memory.y},
                           {kSum, memory.sum},
                           {kSquares, memory.squares}},
                          memory.workspace,
                          "a convolution that normalizes what it reads",
                          handle);
    case ConvFusion::kWeightGradient:
      return plan_.Launch({{kX, memory.x},
                           {kScale, scale},
                           {kBias, bias},
                           {kYGradient, memory.y_gradient},
                           {kWeightGradient, memory.weight_gradient}},
                          memory.workspace,
                          "the weights' gradient of a convolution that "
                          "normalizes what it reads",
                          handle);
    case ConvFusion::kInputGradient:
      return plan_.Launch(
          {{kX, memory.x},
           {kWeight, memory.weight},
           {kYGradient, memory.y_gradient},
           {kMean, memory.mean},
           {kInverseStd, memory.inverse_std},
           {kNormWeight, memory.norm_weight},
           {kNormBias, memory.norm_bias},
           {kNormGradient, memory.norm_gradient},
           {kNormWeightGradient, memory.norm_weight_gradient},
           {kNormBiasGradient, memory.norm_bias_gradient},
           {kFactors, memory.factors},
           {kFactors + 1, memory.factors + conv_.channels},
           {kFactors + 2, memory.factors + 2 * conv_.channels}},
          memory.workspace,
          "the input's gradient of a convolution that normalizes what it reads",
          handle);
  }
}

}  // namespace infeed
