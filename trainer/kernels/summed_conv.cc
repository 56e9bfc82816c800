#include "trainer/kernels/summed_conv.h"

#include <cudnn.h>

#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// By which a launch finds the tensors' memory.
enum Tensor : std::int64_t { kX = 1, kWeight, kY, kSum, kSquares };

constexpr std::int64_t kAlignment = 16;  // bytes
constexpr std::int64_t kMostConfigs = 32;

// What the heuristics prefer, then what works in more cases.
constexpr cudnnBackendHeurMode_t kModes[] = {CUDNN_HEUR_MODE_A,
                                             CUDNN_HEUR_MODE_FALLBACK};

struct Destroyer {
  void operator()(void* descriptor) const {
    (void)cudnnBackendDestroyDescriptor(descriptor);
  }
};
using Descriptor = std::unique_ptr<void, Destroyer>;

// Points to values of the full expression in which it is made.
struct Attribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  std::int64_t count;
  const void* values;
};

template <typename T>
Attribute One(cudnnBackendAttributeName_t name,
              cudnnBackendAttributeType_t type, const T& value) {
  return {name, type, 1, &value};
}
Attribute Numbers(cudnnBackendAttributeName_t name,
                  std::initializer_list<std::int64_t> values) {
  return {name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()),
          values.begin()};
}
// Of descriptors, each of which must be there.
template <std::size_t kCount>
Attribute Parts(cudnnBackendAttributeName_t name,
                const std::array<void*, kCount>& parts) {
  return {name, CUDNN_TYPE_BACKEND_DESCRIPTOR, kCount, parts.data()};
}
Attribute Part(cudnnBackendAttributeName_t name, void* const& part) {
  return One(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, part);
}

Descriptor Create(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  (void)cudnnBackendCreateDescriptor(type, &made);
  return Descriptor(made);
}

// nullptr where cuDNN rejects it, also because it rejected a part before.
Descriptor Make(cudnnBackendDescriptorType_t type,
                std::initializer_list<Attribute> attributes) {
  Descriptor made = Create(type);
  for (const Attribute& one : attributes) {
    if (made == nullptr ||
        cudnnBackendSetAttribute(made.get(), one.name, one.type, one.count,
                                 one.values) != CUDNN_STATUS_SUCCESS) {
      return nullptr;
    }
  }
  const bool good = made != nullptr &&
                    cudnnBackendFinalize(made.get()) == CUDNN_STATUS_SUCCESS;
  return good ? std::move(made) : nullptr;
}

cudnnDataType_t DataTypeOf(ImageType type) {
  switch (type) {
    case ImageType::kBfloat16:
      return CUDNN_DATA_BFLOAT16;
    case ImageType::kFloat16:
      return CUDNN_DATA_HALF;
    case ImageType::kFloat32:
      break;
  }
  return CUDNN_DATA_FLOAT;
}

// Of sizes [N, C, H, W], in channels_last order.
Descriptor MakeTensor(Tensor tensor, cudnnDataType_t type, std::int64_t n,
                      std::int64_t c, std::int64_t h, std::int64_t w) {
  return Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR,
              {One(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type),
               Numbers(CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, h, w}),
               Numbers(CUDNN_ATTR_TENSOR_STRIDES, {h * w * c, 1, w * c, c}),
               Numbers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {tensor}),
               Numbers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {kAlignment})});
}

// The convolution and the sums of its result as one graph of two operations,
// with the parts of which it is made.
class ConvGraph {
 public:
  ConvGraph(const SummedConv& conv, cudnnHandle_t handle) {
    const cudnnDataType_t type = DataTypeOf(conv.type);
    void* const x = Keep(MakeTensor(kX, type, conv.images, conv.channels,
                                    conv.height, conv.width));
    void* const weight = Keep(MakeTensor(
        kWeight, type, conv.outputs, conv.channels, conv.kernel, conv.kernel));
    void* const y = Keep(MakeTensor(kY, type, conv.images, conv.outputs,
                                    conv.out_height(), conv.out_width()));
    graph_ = Keep(
        Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
             {One(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle),
              Parts<2>(CUDNN_ATTR_OPERATIONGRAPH_OPS,
                       {Convolution(conv, x, weight, y), Sums(conv, y)})}));
  }

  [[nodiscard]] void* graph() const { return graph_; }

 private:
  void* Convolution(const SummedConv& conv, void* x, void* weight, void* y) {
    void* const how =
        Keep(Make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
                  {Numbers(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}),
                   One(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                       CUDNN_DATA_FLOAT),
                   One(CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                       CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION),
                   Numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1}),
                   Numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                           {conv.stride, conv.stride}),
                   Numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                           {conv.padding, conv.padding}),
                   Numbers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
                           {conv.padding, conv.padding})}));
    return Keep(
        Make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
             {One(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                  CUDNN_TYPE_FLOAT, 1.0F),
              One(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                  CUDNN_TYPE_FLOAT, 0.0F),
              Part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how),
              Part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x),
              Part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, weight),
              Part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y)}));
  }

  void* Sums(const SummedConv& conv, void* y) {
    const auto sum_of = [&](Tensor tensor) {
      return Keep(MakeTensor(tensor, CUDNN_DATA_FLOAT, 1, conv.outputs, 1, 1));
    };
    return Keep(Make(
        CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
        {One(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE,
             CUDNN_GENSTATS_SUM_SQSUM),
         One(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
             CUDNN_DATA_FLOAT),
         Part(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y),
         Part(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum_of(kSum)),
         Part(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, sum_of(kSquares))}));
  }

  void* Keep(Descriptor part) {
    parts_.push_back(std::move(part));
    return parts_.back().get();
  }

  std::vector<Descriptor> parts_;
  void* graph_ = nullptr;
};

// A plan with what it was made from.
struct KeptPlan {
  std::shared_ptr<const ConvGraph> graph;
  Descriptor config;
  Descriptor plan;
};

// Engines that may run the graph, the most promising first.
std::vector<Descriptor> ConfigsFor(void* graph, cudnnBackendHeurMode_t mode) {
  const Descriptor heuristics =
      Make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
           {Part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph),
            One(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)});
  if (heuristics == nullptr) {
    return {};
  }
  std::vector<Descriptor> configs;
  std::vector<void*> to_fill;
  for (std::int64_t i = 0; i < kMostConfigs; ++i) {
    configs.push_back(Create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    to_fill.push_back(configs.back().get());
  }
  std::int64_t found = 0;
  (void)cudnnBackendGetAttribute(
      heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
      CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostConfigs, &found, to_fill.data());
  configs.resize(static_cast<std::size_t>(found));
  return configs;
}

// Whether its engine adds up in the same order in each run.
bool IsDeterministic(void* config) {
  const Descriptor engine = Create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  void* to_fill = engine.get();
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT>
      notes = {};
  std::int64_t found = 0;
  if (cudnnBackendGetAttribute(
          config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &found, static_cast<void*>(&to_fill)) != CUDNN_STATUS_SUCCESS ||
      cudnnBackendGetAttribute(to_fill, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                               CUDNN_TYPE_NUMERICAL_NOTE, notes.size(), &found,
                               notes.data()) != CUDNN_STATUS_SUCCESS) {
    return false;
  }
  for (std::int64_t i = 0; i < found; ++i) {
    if (notes.at(static_cast<std::size_t>(i)) ==
        CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) {
      return false;
    }
  }
  return true;
}

// Bytes.
std::int64_t WorkspaceOf(void* plan) {
  std::int64_t bytes = 0;
  std::int64_t found = 0;
  (void)cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                 CUDNN_TYPE_INT64, 1, &found, &bytes);
  return bytes;
}

}  // namespace

std::vector<SummedConvPlan> SummedConvPlan::Find(const SummedConv& conv,
                                                 bool deterministic,
                                                 std::size_t most,
                                                 cudnnContext* handle) {
  std::vector<SummedConvPlan> plans;
  const auto graph = std::make_shared<const ConvGraph>(conv, handle);
  for (const cudnnBackendHeurMode_t mode : kModes) {
    for (Descriptor& config : ConfigsFor(graph->graph(), mode)) {
      if (plans.size() == most) {
        return plans;
      }
      if (deterministic && !IsDeterministic(config.get())) {
        continue;
      }
      Descriptor plan = Make(
          CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
          {One(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle),
           Part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config.get())});
      if (plan == nullptr) {
        continue;
      }
      void* const used = plan.get();
      const auto kept = std::make_shared<KeptPlan>(
          KeptPlan{graph, std::move(config), std::move(plan)});
      plans.push_back(SummedConvPlan({kept, used}, WorkspaceOf(used)));
    }
  }
  return plans;
}

void SummedConvPlan::Launch(const SummedConvMemory& memory,
                            cudnnContext* handle) const {
  const std::array<const void*, 5> pointers = {
      memory.x, memory.weight, memory.y, memory.sum, memory.squares};
  const Descriptor pack =
      Make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
           {Numbers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                    {kX, kWeight, kY, kSum, kSquares}),
            Attribute{CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                      CUDNN_TYPE_VOID_PTR, pointers.size(), pointers.data()},
            One(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                memory.workspace)});
  const cudnnStatus_t status =
      pack == nullptr ? CUDNN_STATUS_BAD_PARAM
                      : cudnnBackendExecute(handle, plan_.get(), pack.get());
  if (status != CUDNN_STATUS_SUCCESS) {
    throw IoError(
        std::string("cuDNN refused a convolution that sums its result: ") +
        cudnnGetErrorString(status) +
        "; conv_statistics=pass does without such convolutions");
  }
}

}  // namespace infeed
