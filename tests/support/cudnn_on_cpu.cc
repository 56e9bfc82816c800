#include "tests/support/cudnn_on_cpu.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <span>

#include "tests/support/image_bits.h"

namespace infeed {
namespace {

using Values = std::vector<std::byte>;

struct CudnnDescriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  // Of a configuration and what is made of it.
  int engine = -1;
  const CudnnDescriptor* graph = nullptr;
  std::map<cudnnBackendAttributeName_t, Values> attributes = {};

  template <typename T>
  [[nodiscard]] std::vector<T> Get(cudnnBackendAttributeName_t name) const {
    const Values& bytes = attributes.at(name);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  [[nodiscard]] const CudnnDescriptor& Part(
      cudnnBackendAttributeName_t name) const {
    return *Get<const CudnnDescriptor*>(name).at(0);
  }
};

CudnnOnCpu settings;
CudnnCalls calls;
int live = 0;

CudnnDescriptor& Of(cudnnBackendDescriptor_t one) {
  return *static_cast<CudnnDescriptor*>(one);
}

bool Has(const std::vector<int>& engines, int engine) {
  return std::ranges::find(engines, engine) != engines.end();
}

struct Kind {
  const char* name;
  std::vector<cudnnBackendAttributeName_t> needed;
  std::vector<cudnnBackendAttributeName_t> parts = {};
};

// Of those that are finalized by the caller.
const std::map<cudnnBackendDescriptorType_t, Kind>& Kinds() {
  static const std::map<cudnnBackendDescriptorType_t, Kind> kinds = {
      {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
       {"tensor",
        {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_ATTR_TENSOR_DATA_TYPE,
         CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES,
         CUDNN_ATTR_TENSOR_UNIQUE_ID}}},
      {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       {"convolution",
        {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
         CUDNN_ATTR_CONVOLUTION_DILATIONS,
         CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
         CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
         CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
         CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS}}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {"forward",
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}}},
      {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
       {"sums",
        {CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC,
         CUDNN_ATTR_OPERATION_GENSTATS_MODE},
        {CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC,
         CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
         CUDNN_ATTR_OPERATION_GENSTATS_XDESC}}},
      {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
       {"graph",
        {CUDNN_ATTR_OPERATIONGRAPH_HANDLE},
        {CUDNN_ATTR_OPERATIONGRAPH_OPS}}},
      {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
       {"heuristics",
        {CUDNN_ATTR_ENGINEHEUR_MODE},
        {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH}}},
      {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
       {"plan",
        {CUDNN_ATTR_EXECUTION_PLAN_HANDLE},
        {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG}}},
      {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
       {"pack",
        {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
         CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
         CUDNN_ATTR_VARIANT_PACK_WORKSPACE}}}};
  return kinds;
}

// Whether all attributes that the kind needs are set, and all parts finalized.
bool IsComplete(const CudnnDescriptor& one, const Kind& kind) {
  const auto is_set = [&](cudnnBackendAttributeName_t name) {
    return one.attributes.contains(name);
  };
  return std::ranges::all_of(kind.needed, is_set) &&
         std::ranges::all_of(kind.parts, [&](cudnnBackendAttributeName_t name) {
           return is_set(name) &&
                  std::ranges::all_of(one.Get<const CudnnDescriptor*>(name),
                                      [](const auto* part) {
                                        return part != nullptr &&
                                               part->finalized;
                                      });
         });
}

// ---- The graph's work ----

using Sizes = std::array<std::int64_t, 4>;  // N, C, H, W

// A tensor of a pack, in channels_last order.
struct PackedTensor {
  const CudnnDescriptor& tensor;
  Sizes sizes;
  void* data;

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
  }
};

PackedTensor Packed(const CudnnDescriptor& tensor,
                    const CudnnDescriptor& pack) {
  const auto sizes = tensor.Get<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto ids = pack.Get<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto place = std::ranges::find(
      ids, tensor.Get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID).at(0));
  return {tensor,
          {sizes.at(0), sizes.at(1), sizes.at(2), sizes.at(3)},
          pack.Get<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
              .at(static_cast<std::size_t>(place - ids.begin()))};
}

// Calls use(T{}) for the bits of the tensor's type.
template <typename Use>
void WithBits(const PackedTensor& tensor, const Use& use) {
  switch (
      tensor.tensor.Get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE).at(0)) {
    case CUDNN_DATA_FLOAT:
      return use(std::uint32_t{});
    case CUDNN_DATA_BFLOAT16:
      return use(std::uint16_t{});
    case CUDNN_DATA_HALF:
      return use(Float16{});
  }
}

std::vector<float> Floats(const PackedTensor& tensor) {
  std::vector<float> values;
  WithBits(tensor, [&]<typename T>(T) {
    for (const T bits :
         std::span(static_cast<const T*>(tensor.data), tensor.count())) {
      values.push_back(ValueOf(bits));
    }
  });
  return values;
}

// Stores the values rounded, and rounds them.
void Store(const PackedTensor& tensor, std::vector<float>& values) {
  WithBits(tensor, [&]<typename T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T bits = RoundedBits<T>(values[i]);
      static_cast<T*>(tensor.data)[i] = bits;
      values[i] = ValueOf(bits);
    }
  });
}

struct Convolution {
  PackedTensor x, weight, y;
  std::int64_t stride, padding;
  std::vector<float> values = Floats(x);
  std::vector<float> weights = Floats(weight);

  [[nodiscard]] float At(std::int64_t n, std::int64_t k, std::int64_t row,
                         std::int64_t column) const {
    const auto& [images, channels, height, width] = x.sizes;
    const std::int64_t side = weight.sizes[2];
    float sum = 0;
    for (std::int64_t r = 0; r < side; ++r) {
      for (std::int64_t s = 0; s < side; ++s) {
        const std::int64_t h = row * stride + r - padding;
        const std::int64_t w = column * stride + s - padding;
        if (h < 0 || h >= height || w < 0 || w >= width) {
          continue;
        }
        const float* const from = &values[static_cast<std::size_t>(
            ((n * height + h) * width + w) * channels)];
        const float* const with = &weights[static_cast<std::size_t>(
            ((k * side + r) * side + s) * channels)];
        for (std::int64_t c = 0; c < channels; ++c) {
          sum += from[c] * with[c];
        }
      }
    }
    return sum;
  }

  [[nodiscard]] std::vector<float> Result() const {
    const auto& [images, outputs, height, width] = y.sizes;
    std::vector<float> result;
    for (std::int64_t i = 0; i < images * height * width; ++i) {
      for (std::int64_t k = 0; k < outputs; ++k) {
        result.push_back(
            At(i / (height * width), k, i / width % height, i % width));
      }
    }
    return result;
  }
};

void Run(const CudnnDescriptor& convolution, const CudnnDescriptor& sums,
         const CudnnDescriptor& pack) {
  const CudnnDescriptor& how =
      convolution.Part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  const auto number = [&](cudnnBackendAttributeName_t name) {
    return how.Get<std::int64_t>(name).at(0);
  };
  const auto packed = [&](const CudnnDescriptor& operation,
                          cudnnBackendAttributeName_t name) {
    return Packed(operation.Part(name), pack);
  };
  const Convolution work = {
      .x = packed(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X),
      .weight = packed(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W),
      .y = packed(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y),
      .stride = number(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
      .padding = number(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS)};
  std::vector<float> y = work.Result();
  Store(work.y, y);
  const PackedTensor sum = packed(sums, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC);
  std::vector<float> first(sum.count());
  std::vector<float> second(sum.count());
  for (std::size_t i = 0; i < y.size(); ++i) {
    first[i % first.size()] += y[i];
    second[i % second.size()] += y[i] * y[i];
  }
  Store(sum, first);
  Store(packed(sums, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC), second);
}

}  // namespace

CudnnOnCpu& CudnnSettings() { return settings; }
const CudnnCalls& CallsOfCudnn() { return calls; }
void ResetCudnn() {
  settings = {};
  calls = {};
}
int LiveCudnnDescriptors() { return live; }

}  // namespace infeed

using infeed::Of;

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* made) {
  *made = std::make_unique<infeed::CudnnDescriptor>(
              infeed::CudnnDescriptor{.type = type})
              .release();
  ++infeed::live;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t one) {
  const std::unique_ptr<infeed::CudnnDescriptor> taken(&Of(one));
  --infeed::live;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t one,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       std::int64_t count, const void* values) {
  constexpr cudnnBackendAttributeType_t kOfFourBytes[] = {
      CUDNN_TYPE_FLOAT, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_TYPE_DATA_TYPE,
      CUDNN_TYPE_GENSTATS_MODE, CUDNN_TYPE_HEUR_MODE};
  const bool is_small =
      std::ranges::find(kOfFourBytes, type) != std::end(kOfFourBytes);
  const std::span bytes(static_cast<const std::byte*>(values),
                        static_cast<std::size_t>(count) * (is_small ? 4 : 8));
  if (Of(one).finalized) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  Of(one).attributes[name].assign(bytes.begin(), bytes.end());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t one,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t /*type*/,
                                       std::int64_t most, std::int64_t* count,
                                       void* values) {
  const infeed::CudnnOnCpu& settings = infeed::CudnnSettings();
  *count = 1;
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
      const int first =
          Of(one).Get<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE)[0] *
          settings.engines_of_mode;
      *count = std::min<std::int64_t>(most, settings.engines_of_mode);
      for (int i = 0; i < static_cast<int>(*count); ++i) {
        infeed::CudnnDescriptor& config =
            Of(static_cast<cudnnBackendDescriptor_t*>(values)[i]);
        config.engine = first + i;
        config.graph = &Of(one).Part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
        config.finalized = true;
      }
      return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      Of(*static_cast<cudnnBackendDescriptor_t*>(values)).engine =
          Of(one).engine;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      *static_cast<cudnnBackendNumericalNote_t*>(values) =
          infeed::Has(settings.nondeterministic, Of(one).engine)
              ? CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
              : CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      *static_cast<std::int64_t*>(values) = settings.workspace;
      return CUDNN_STATUS_SUCCESS;
    default:
      return CUDNN_STATUS_BAD_PARAM;
  }
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t one) {
  infeed::CudnnDescriptor& made = Of(one);
  const auto kind = infeed::Kinds().find(made.type);
  if (kind == infeed::Kinds().end() ||
      !infeed::IsComplete(made, kind->second)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (made.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const infeed::CudnnDescriptor& config =
        made.Part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    made.engine = config.engine;
    made.graph = config.graph;
    if (infeed::Has(infeed::CudnnSettings().rejected, made.engine)) {
      return CUDNN_STATUS_NOT_SUPPORTED;
    }
  }
  made.finalized = true;
  ++infeed::calls.descriptors[kind->second.name];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t /*handle*/,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  if (infeed::CudnnSettings().is_broken) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  const auto operations = Of(plan).graph->Get<const infeed::CudnnDescriptor*>(
      CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (operations.size() != 2 ||
      operations[0]->type !=
          CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
      operations[1]->type != CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  infeed::calls.executed.push_back(Of(plan).engine);
  infeed::calls.workspaces.push_back(
      Of(pack).Get<const void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE).at(0));
  infeed::Run(*operations[0], *operations[1], Of(pack));
  return CUDNN_STATUS_SUCCESS;
}

const char* cudnnGetErrorString(cudnnStatus_t /*status*/) {
  return "not supported";
}
