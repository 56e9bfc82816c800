#include "tests/support/cudnn_graph_on_cpu.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "tests/support/image_bits.h"

namespace infeed {
namespace {

using FloatValues = std::vector<float>;
using Sizes = std::array<std::int64_t, 4>;  // N, C, H, W
using Operations = std::vector<const CudnnDescriptor*>;

// ---- Descriptors ----

// An operation's attributes of a pass.
struct PassAttributes {
  cudnnBackendAttributeName_t how, x, weight, y;
};
constexpr PassAttributes kForwardPass = {
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
constexpr PassAttributes kWeightGradientPass = {
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
constexpr PassAttributes kInputGradientPass = {
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};

cudnnPointwiseMode_t PointwiseModeOf(const CudnnDescriptor& operation) {
  return operation.Part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
      .Get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE)
      .at(0);
}

cudnnDataType_t TypeOf(const CudnnDescriptor& tensor) {
  return tensor.Get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE).at(0);
}

bool IsVirtual(const CudnnDescriptor& tensor) {
  return tensor.Get<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL).at(0) != 0;
}

Sizes SizesOf(const CudnnDescriptor& tensor) {
  const auto sizes = tensor.Get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  return {sizes.at(0), sizes.at(1), sizes.at(2), sizes.at(3)};
}

std::size_t CountOf(const CudnnDescriptor& tensor) {
  const auto [n, c, h, w] = SizesOf(tensor);
  return static_cast<std::size_t>(n * c * h * w);
}

// ---- Which graphs have engines ----

Operations OperationsOf(const CudnnDescriptor& graph) {
  return graph.Get<const CudnnDescriptor*>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
}

// A letter for each operation, in their order.
std::string LettersOf(const Operations& operations) {
  std::string letters;
  for (const CudnnDescriptor* const one : operations) {
    switch (one->type) {
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        letters += 'y';
        break;
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        letters += 'w';
        break;
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        letters += 'x';
        break;
      case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
        letters += 's';
        break;
      case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
        letters += 'n';
        break;
      default:
        letters += "+*-rm"[PointwiseModeOf(*one)];
    }
  }
  return letters;
}

// Of the tensors in memory that are images, weights, or the second operand of
// an operation between two.
bool AreHalf(const Operations& operations) {
  return std::ranges::all_of(operations, [](const CudnnDescriptor* one) {
    return std::ranges::all_of(
        std::array{kForwardPass.x, kForwardPass.weight, kForwardPass.y,
                   kWeightGradientPass.x, kWeightGradientPass.weight,
                   kWeightGradientPass.y, kInputGradientPass.x,
                   kInputGradientPass.weight, kInputGradientPass.y,
                   CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                   CUDNN_ATTR_OPERATION_POINTWISE_DXDESC},
        [&](cudnnBackendAttributeName_t name) {
          return !one->attributes.contains(name) ||
                 IsVirtual(one->Part(name)) ||
                 TypeOf(one->Part(name)) == CUDNN_DATA_HALF;
        });
  });
}

// Whether the second operands of operations between two are of the type.
bool HaveOthers(const Operations& operations, cudnnDataType_t type) {
  return std::ranges::all_of(operations, [&](const CudnnDescriptor* one) {
    return !one->attributes.contains(CUDNN_ATTR_OPERATION_POINTWISE_BDESC) ||
           TypeOf(one->Part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)) == type;
  });
}

// ---- Their work ----

// Calls use(T{}) for the bits of the tensor's type.
template <typename Use>
void WithBits(const CudnnDescriptor& tensor, const Use& use) {
  switch (TypeOf(tensor)) {
    case CUDNN_DATA_FLOAT:
      return use(std::uint32_t{});
    case CUDNN_DATA_BFLOAT16:
      return use(std::uint16_t{});
    case CUDNN_DATA_HALF:
      return use(Float16{});
  }
}

// Calls use(y's pixel, x's pixel, the weight's) for those that are multiplied.
template <typename Use>
void ForEachTap(const CudnnDescriptor& how, const Sizes& x, const Sizes& weight,
                const Sizes& y, const Use& use) {
  const auto stride =
      how.Get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES).at(0);
  const auto padding =
      how.Get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS).at(0);
  for (std::int64_t at = 0; at < y[0] * y[2] * y[3]; ++at) {
    const std::int64_t image = at / (y[2] * y[3]);
    for (std::int64_t tap = 0; tap < weight[2] * weight[3]; ++tap) {
      const std::int64_t row =
          at / y[3] % y[2] * stride + tap / weight[3] - padding;
      const std::int64_t column =
          at % y[3] * stride + tap % weight[3] - padding;
      if (row >= 0 && row < x[2] && column >= 0 && column < x[3]) {
        use(at, (image * x[2] + row) * x[3] + column, tap);
      }
    }
  }
}

class GraphRun {
 public:
  explicit GraphRun(const CudnnDescriptor& pack) : pack_(pack) {}

  void Run(const CudnnDescriptor& operation) {
    switch (operation.type) {
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return Forward(operation);
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        return WeightGradient(operation);
      case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return InputGradient(operation);
      case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
        return Sums(operation);
      case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
        return NormSums(operation);
      default:
        return Pointwise(operation);
    }
  }

 private:
  // Throws std::out_of_range where the pack has no such tensor.
  [[nodiscard]] void* MemoryOf(const CudnnDescriptor& tensor) const {
    const auto ids =
        pack_.Get<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto place = std::ranges::find(
        ids, tensor.Get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID).at(0));
    return pack_.Get<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
        .at(static_cast<std::size_t>(place - ids.begin()));
  }

  const FloatValues& Read(const CudnnDescriptor& operation,
                          cudnnBackendAttributeName_t name) {
    const CudnnDescriptor& tensor = operation.Part(name);
    if (IsVirtual(tensor)) {
      return values_.at(&tensor);
    }
    FloatValues& values = values_[&tensor];
    values.clear();
    WithBits(tensor, [&]<typename T>(T) {
      for (const T bits : std::span(static_cast<const T*>(MemoryOf(tensor)),
                                    CountOf(tensor))) {
        values.push_back(ValueOf(bits));
      }
    });
    return values;
  }

  // Rounded where they are stored.
  void Write(const CudnnDescriptor& operation, cudnnBackendAttributeName_t name,
             const FloatValues& values) {
    const CudnnDescriptor& tensor = operation.Part(name);
    if (IsVirtual(tensor)) {
      values_[&tensor] = values;
      return;
    }
    WithBits(tensor, [&]<typename T>(T) {
      std::ranges::transform(values, static_cast<T*>(MemoryOf(tensor)),
                             RoundedBits<T>);
    });
  }

  // Calls use(k, y, x, weight) for each output channel k of each product, with
  // the places of y and of the first channel of x and of the weight.
  template <typename Use>
  static void ForEachProduct(const CudnnDescriptor& convolution,
                             const PassAttributes& names, const Use& use) {
    const Sizes x = SizesOf(convolution.Part(names.x));
    const Sizes weight = SizesOf(convolution.Part(names.weight));
    const Sizes y = SizesOf(convolution.Part(names.y));
    ForEachTap(convolution.Part(names.how), x, weight, y,
               [&](std::int64_t to, std::int64_t from, std::int64_t tap) {
                 for (std::int64_t k = 0; k < weight[0]; ++k) {
                   use(static_cast<std::size_t>(to * weight[0] + k),
                       static_cast<std::size_t>(from * x[1]),
                       static_cast<std::size_t>(
                           (k * weight[2] * weight[3] + tap) * x[1]));
                 }
               });
  }
  static std::size_t ChannelsOf(const CudnnDescriptor& convolution,
                                const PassAttributes& names) {
    return static_cast<std::size_t>(SizesOf(convolution.Part(names.x))[1]);
  }

  void Forward(const CudnnDescriptor& convolution) {
    const FloatValues& x = Read(convolution, kForwardPass.x);
    const FloatValues& weight = Read(convolution, kForwardPass.weight);
    FloatValues y(CountOf(convolution.Part(kForwardPass.y)));
    const std::size_t channels = ChannelsOf(convolution, kForwardPass);
    ForEachProduct(convolution, kForwardPass,
                   [&](std::size_t to, std::size_t from, std::size_t by) {
                     float sum = 0;
                     for (std::size_t c = 0; c < channels; ++c) {
                       sum += x[from + c] * weight[by + c];
                     }
                     y[to] += sum;
                   });
    Write(convolution, kForwardPass.y, y);
  }

  void WeightGradient(const CudnnDescriptor& convolution) {
    const FloatValues& x = Read(convolution, kWeightGradientPass.x);
    const FloatValues& y = Read(convolution, kWeightGradientPass.y);
    FloatValues weight(CountOf(convolution.Part(kWeightGradientPass.weight)));
    const std::size_t channels = ChannelsOf(convolution, kWeightGradientPass);
    ForEachProduct(convolution, kWeightGradientPass,
                   [&](std::size_t to, std::size_t from, std::size_t by) {
                     for (std::size_t c = 0; c < channels; ++c) {
                       weight[by + c] += y[to] * x[from + c];
                     }
                   });
    Write(convolution, kWeightGradientPass.weight, weight);
  }

  void InputGradient(const CudnnDescriptor& convolution) {
    const FloatValues& weight = Read(convolution, kInputGradientPass.weight);
    const FloatValues& y = Read(convolution, kInputGradientPass.y);
    FloatValues x(CountOf(convolution.Part(kInputGradientPass.x)));
    const std::size_t channels = ChannelsOf(convolution, kInputGradientPass);
    ForEachProduct(convolution, kInputGradientPass,
                   [&](std::size_t to, std::size_t from, std::size_t by) {
                     for (std::size_t c = 0; c < channels; ++c) {
                       x[from + c] += y[to] * weight[by + c];
                     }
                   });
    Write(convolution, kInputGradientPass.x, x);
  }

  void Sums(const CudnnDescriptor& operation) {
    const FloatValues& y = Read(operation, CUDNN_ATTR_OPERATION_GENSTATS_XDESC);
    const std::size_t channels =
        CountOf(operation.Part(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC));
    FloatValues sum(channels);
    FloatValues squares(channels);
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum[i % channels] += y[i];
      squares[i % channels] += y[i] * y[i];
    }
    Write(operation, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum);
    Write(operation, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares);
  }

  void NormSums(const CudnnDescriptor& operation) {
    const FloatValues x =
        Read(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC);
    const FloatValues g =
        Read(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC);
    const FloatValues mean =
        Read(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC);
    const FloatValues inverse_std =
        Read(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC);
    const FloatValues weight =
        Read(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC);
    const std::size_t channels = mean.size();
    FloatValues of_weight(channels);
    FloatValues of_bias(channels);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i % channels;
      of_weight[c] += g[i] * (x[i] - mean[c]) * inverse_std[c];
      of_bias[c] += g[i];
    }
    std::array<FloatValues, 3> factors;
    const auto rows = static_cast<float>(x.size() / channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const float a = weight[c] * inverse_std[c];
      const float b = -a * inverse_std[c] * of_weight[c] / rows;
      factors[0].push_back(a);
      factors[1].push_back(b);
      factors[2].push_back(-a * of_bias[c] / rows - b * mean[c]);
    }
    Write(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
          of_weight);
    Write(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
          of_bias);
    Write(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
          factors[0]);
    Write(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
          factors[1]);
    Write(operation, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, factors[2]);
  }

  void Pointwise(const CudnnDescriptor& operation) {
    const cudnnPointwiseMode_t mode = PointwiseModeOf(operation);
    const bool is_backward = mode == CUDNN_POINTWISE_RELU_BWD;
    const FloatValues x = Read(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    const FloatValues other =
        mode == CUDNN_POINTWISE_RELU_FWD
            ? FloatValues{0}
            : Read(operation, is_backward
                                  ? CUDNN_ATTR_OPERATION_POINTWISE_DYDESC
                                  : CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    FloatValues y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(Result(mode, x[i], other[i % other.size()]));
    }
    Write(operation,
          is_backward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC
                      : CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
          y);
  }

  static float Result(cudnnPointwiseMode_t mode, float x, float other) {
    switch (mode) {
      case CUDNN_POINTWISE_ADD:
        return x + other;
      case CUDNN_POINTWISE_MUL:
        return x * other;
      case CUDNN_POINTWISE_SUB:
        return x - other;
      case CUDNN_POINTWISE_RELU_FWD:
        return std::max(x, 0.0F);
      case CUDNN_POINTWISE_RELU_BWD:
        break;
    }
    return x > 0 ? other : 0;
  }

  const CudnnDescriptor& pack_;
  std::map<const CudnnDescriptor*, FloatValues> values_;
};

}  // namespace

std::string NameOfCudnnGraph(const CudnnDescriptor& graph) {
  const Operations operations = OperationsOf(graph);
  const std::string letters = LettersOf(operations);
  if (letters == "ys") {
    return "sums";
  }
  if (!AreHalf(operations)) {
    return "";
  }
  if (HaveOthers(operations, CUDNN_DATA_HALF)) {
    return letters == "*+rys"  ? "normed"
           : letters == "*+rw" ? "weight gradient"
                               : "";
  }
  return letters == "x-**+mn" && HaveOthers(operations, CUDNN_DATA_FLOAT)
             ? "input gradient"
             : "";
}

bool RunCudnnGraph(const CudnnDescriptor& graph, const CudnnDescriptor& pack) {
  GraphRun run(pack);
  try {
    for (const CudnnDescriptor* const operation : OperationsOf(graph)) {
      run.Run(*operation);
    }
  } catch (const std::out_of_range&) {
    return false;
  }
  return true;
}

}  // namespace infeed
