#include "trainer/formats/tensorflow_weights.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trainer/formats/strided_copy.h"

namespace infeed {
namespace {

constexpr std::int64_t kClasses = 1000;  // ImageNet's classes, without
                                         // background

// The end of a tensor's name in this program and in TensorFlow.
using Part = std::pair<std::string_view, std::string_view>;
constexpr Part kWeights[] = {{".weight", "/kernel"}, {".bias", "/bias"}};
constexpr Part kNorms[] = {{".weight", "/gamma"},
                           {".bias", "/beta"},
                           {".running_mean", "/moving_mean"},
                           {".running_var", "/moving_variance"}};

HostTensor Copy(const HostTensor& tensor, StridedView view) {
  constexpr std::int64_t kFloatBytes = 4;
  HostTensor copy{.type = tensor.type,
                  .shape = view.shape,
                  .bytes = CopyStrided(view, kFloatBytes, tensor.bytes)};
  return copy;
}

// Permutes TensorFlow's order of dimensions into PyTorch's.
HostTensor Transposed(HostTensor tensor) {
  const std::vector<std::int64_t>& s = tensor.shape;
  if (tensor.type != DataType::kFloat32 || (s.size() != 4 && s.size() != 2)) {
    return tensor;  // The caller checks the shape.
  }
  if (s.size() == 2) {
    return Copy(tensor, {.shape = {s[1], s[0]}, .strides = {1, s[1]}});
  }
  return Copy(tensor, {.shape = {s[3], s[2], s[0], s[1]},
                       .strides = {1, s[3], s[1] * s[2] * s[3], s[2] * s[3]}});
}

// Removes the first row of a classifier's weight or bias that has one row more
// than ImageNet has classes.
HostTensor WithoutBackground(HostTensor tensor) {
  std::vector<std::int64_t> shape = tensor.shape;
  if (tensor.type != DataType::kFloat32 || shape.empty() ||
      shape[0] != kClasses + 1) {
    return tensor;
  }
  shape[0] = kClasses;
  const std::int64_t row = shape.size() > 1 ? shape[1] : 1;
  return Copy(
      tensor,
      shape.size() > 1
          ? StridedView{.offset = row, .shape = shape, .strides = {row, 1}}
          : StridedView{.offset = 1, .shape = shape, .strides = {1}});
}

// Numbers the layers of each kind, in order.
class Counter {
 public:
  explicit Counter(std::string base) : base_(std::move(base)) {}
  std::string Next() {
    const int number = count_++;
    return number == 0 ? base_ : base_ + "_" + std::to_string(number);
  }

 private:
  std::string base_;
  int count_ = 0;
};

}  // namespace

TensorMap ReadTensorflowWeights(const TensorBundle& bundle,
                                const std::vector<LayerPlan>& layers) {
  TensorMap tensors;
  Counter convolutions("conv2d");
  Counter norms("batch_normalization");
  Counter linears("dense");
  const auto read = [&](const LayerPlan& layer, const std::string& theirs,
                        std::span<const Part> parts) {
    for (const auto& [our_end, their_end] : parts) {
      const std::string name = theirs + std::string(their_end);
      if (!bundle.Has(name)) {
        continue;
      }
      HostTensor tensor = bundle.Read(name);
      if (their_end == "/kernel") {
        tensor = Transposed(std::move(tensor));
      }
      if (layer.kind == LayerKind::kLinear && layer.out == kClasses) {
        tensor = WithoutBackground(std::move(tensor));
      }
      tensors[layer.name + std::string(our_end)] = std::move(tensor);
    }
  };
  for (const LayerPlan& layer : layers) {
    switch (layer.kind) {
      case LayerKind::kConvolution:
        read(layer, convolutions.Next(), kWeights);
        break;
      case LayerKind::kChannelConvolution:
        break;  // The reference has no such tensor.
      case LayerKind::kNorm:
        read(layer, norms.Next(), kNorms);
        break;
      case LayerKind::kLinear:
        read(layer, linears.Next(), kWeights);
        break;
    }
  }
  return tensors;
}

}  // namespace infeed
