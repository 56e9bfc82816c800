#include "trainer/kernels/cudnn_graph.h"

#include <cudnn.h>

#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kAlignment = 16;  // bytes
// Ids of tensors between operations, above those of tensors in memory.
constexpr std::int64_t kFirstValues = 1000;
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
Attribute Several(cudnnBackendAttributeName_t name,
                  const std::vector<void*>& parts) {
  return {name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
          static_cast<std::int64_t>(parts.size()), parts.data()};
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

// An operation's attributes of a pass.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, how, x, weight, y;
};
constexpr PassNames kForwardNames = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
constexpr PassNames kWeightGradientNames = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
constexpr PassNames kInputGradientNames = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};

const PassNames& NamesOf(CudnnGraph::Pass pass) {
  switch (pass) {
    case CudnnGraph::Pass::kForward:
      return kForwardNames;
    case CudnnGraph::Pass::kWeightGradient:
      return kWeightGradientNames;
    case CudnnGraph::Pass::kInputGradient:
      break;
  }
  return kInputGradientNames;
}

cudnnPointwiseMode_t ModeOf(CudnnGraph::Pointwise op) {
  switch (op) {
    case CudnnGraph::Pointwise::kAdd:
      return CUDNN_POINTWISE_ADD;
    case CudnnGraph::Pointwise::kSubtract:
      return CUDNN_POINTWISE_SUB;
    case CudnnGraph::Pointwise::kMultiply:
      break;
  }
  return CUDNN_POINTWISE_MUL;
}

}  // namespace

// ---- The graph ----

struct CudnnGraph::Parts {
  void* Keep(Descriptor part) {
    all.push_back(std::move(part));
    return all.back().get();
  }
  void* MakeTensor(std::int64_t id, cudnnDataType_t type,
                   const GraphSizes& sizes, bool is_virtual) {
    const auto [n, c, h, w] = sizes;
    return Keep(Make(
        CUDNN_BACKEND_TENSOR_DESCRIPTOR,
        {One(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type),
         Numbers(CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, h, w}),
         Numbers(CUDNN_ATTR_TENSOR_STRIDES, {h * w * c, 1, w * c, c}),
         Numbers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id}),
         Numbers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {kAlignment}),
         One(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual)}));
  }
  // tensors: the attributes that name the operation's tensors.
  void AddPointwise(cudnnPointwiseMode_t mode,
                    const std::array<Attribute, 3>& tensors) {
    void* const how = Keep(
        Make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
             {One(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode),
              One(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                  CUDNN_DATA_FLOAT)}));
    operations.push_back(
        Keep(Make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                  {Part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how),
                   tensors[0], tensors[1], tensors[2]})));
  }

  std::vector<Descriptor> all;
  std::vector<void*> operations;
  std::int64_t values = 0;  // tensors between operations
};

CudnnGraph::CudnnGraph() : parts_(std::make_unique<Parts>()) {}
CudnnGraph::CudnnGraph(CudnnGraph&&) noexcept = default;
CudnnGraph& CudnnGraph::operator=(CudnnGraph&&) noexcept = default;
CudnnGraph::~CudnnGraph() = default;

CudnnGraph::Tensor CudnnGraph::AddTensor(std::int64_t id, ImageType type,
                                         const GraphSizes& sizes) {
  return parts_->MakeTensor(id, DataTypeOf(type), sizes, /*is_virtual=*/false);
}

CudnnGraph::Tensor CudnnGraph::AddValues(const GraphSizes& sizes) {
  return parts_->MakeTensor(kFirstValues + parts_->values++, CUDNN_DATA_FLOAT,
                            sizes, /*is_virtual=*/true);
}

void CudnnGraph::Convolve(Pass pass, std::int64_t stride, std::int64_t padding,
                          Tensor x, Tensor weight, Tensor y) {
  const PassNames& names = NamesOf(pass);
  void* const how = parts_->Keep(Make(
      CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
      {Numbers(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}),
       One(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
           CUDNN_DATA_FLOAT),
       One(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
           CUDNN_CROSS_CORRELATION),
       Numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1}),
       Numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {stride, stride}),
       Numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {padding, padding}),
       Numbers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {padding, padding})}));
  parts_->operations.push_back(parts_->Keep(
      Make(names.type,
           {One(names.alpha, CUDNN_TYPE_FLOAT, 1.0F),
            One(names.beta, CUDNN_TYPE_FLOAT, 0.0F), Part(names.how, how),
            Part(names.x, x), Part(names.weight, weight), Part(names.y, y)})));
}

void CudnnGraph::Combine(Pointwise op, Tensor x, Tensor other, Tensor y) {
  parts_->AddPointwise(ModeOf(op),
                       {Part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x),
                        Part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, other),
                        Part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)});
}

void CudnnGraph::Relu(Tensor x, Tensor y) {
  const Attribute result = Part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  parts_->AddPointwise(
      CUDNN_POINTWISE_RELU_FWD,
      {Part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x), result, result});
}

void CudnnGraph::ReluBackward(Tensor x, Tensor y_gradient, Tensor x_gradient) {
  parts_->AddPointwise(
      CUDNN_POINTWISE_RELU_BWD,
      {Part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x),
       Part(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, y_gradient),
       Part(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, x_gradient)});
}

void CudnnGraph::Sum(Tensor y, Tensor sum, Tensor squares) {
  parts_->operations.push_back(parts_->Keep(
      Make(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
           {One(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE,
                CUDNN_GENSTATS_SUM_SQSUM),
            One(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                CUDNN_DATA_FLOAT),
            Part(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y),
            Part(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum),
            Part(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares)})));
}

void CudnnGraph::SumForNorm(const NormSums& sums) {
  parts_->operations.push_back(parts_->Keep(Make(
      CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
      {One(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
           CUDNN_DATA_FLOAT),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, sums.mean),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, sums.inverse_std),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, sums.weight),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, sums.x),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, sums.gradient),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
            sums.weight_gradient),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
            sums.bias_gradient),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
            sums.factors[0]),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
            sums.factors[1]),
       Part(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, sums.factors[2])})));
}

// ---- Its plans ----

namespace {

// A plan with what it was made from.
struct KeptPlan {
  std::shared_ptr<void> graph;
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

std::vector<CudnnPlan> CudnnPlan::Find(CudnnGraph graph, bool deterministic,
                                       std::size_t most, cudnnContext* handle) {
  std::vector<CudnnPlan> plans;
  const std::shared_ptr<CudnnGraph::Parts> parts(std::move(graph.parts_));
  void* const made = parts->Keep(
      Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
           {One(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle),
            Several(CUDNN_ATTR_OPERATIONGRAPH_OPS, parts->operations)}));
  for (const cudnnBackendHeurMode_t mode : kModes) {
    for (Descriptor& config : ConfigsFor(made, mode)) {
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
          KeptPlan{parts, std::move(config), std::move(plan)});
      plans.push_back(CudnnPlan({kept, used}, WorkspaceOf(used)));
    }
  }
  return plans;
}

void CudnnPlan::Launch(std::initializer_list<Memory> memory,
                       const void* workspace, std::string_view what,
                       cudnnContext* handle) const {
  std::vector<std::int64_t> ids;
  std::vector<const void*> pointers;
  for (const auto& [id, pointer] : memory) {
    ids.push_back(id);
    pointers.push_back(pointer);
  }
  const auto count = static_cast<std::int64_t>(ids.size());
  const Descriptor pack = Make(
      CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
      {Attribute{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count,
                 ids.data()},
       Attribute{CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                 count, pointers.data()},
       One(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)});
  const cudnnStatus_t status =
      pack == nullptr ? CUDNN_STATUS_BAD_PARAM
                      : cudnnBackendExecute(handle, plan_.get(), pack.get());
  if (status != CUDNN_STATUS_SUCCESS) {
    throw IoError("cuDNN refused " + std::string(what) + ": " +
                  cudnnGetErrorString(status) +
                  "; conv_statistics=pass does without it");
  }
}

}  // namespace infeed
