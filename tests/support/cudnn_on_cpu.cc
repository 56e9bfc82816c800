#include "tests/support/cudnn_on_cpu.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>

#include "tests/support/cudnn_graph_on_cpu.h"

namespace infeed {
namespace {

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
         CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
         CUDNN_ATTR_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_UNIQUE_ID}}},
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
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {"input gradient",
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY}}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {"weight gradient",
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}}},
      {CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       {"mode", {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_ATTR_POINTWISE_MODE}}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {"pointwise",
        {},
        {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_POINTWISE_XDESC}}},
      {CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
       {"norm sums",
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
         CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS}}},
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
      CUDNN_TYPE_FLOAT,          CUDNN_TYPE_CONVOLUTION_MODE,
      CUDNN_TYPE_DATA_TYPE,      CUDNN_TYPE_GENSTATS_MODE,
      CUDNN_TYPE_POINTWISE_MODE, CUDNN_TYPE_HEUR_MODE};
  const bool is_small =
      std::ranges::find(kOfFourBytes, type) != std::end(kOfFourBytes);
  const std::size_t size = type == CUDNN_TYPE_BOOLEAN ? 1 : is_small ? 4 : 8;
  const std::span bytes(static_cast<const std::byte*>(values),
                        static_cast<std::size_t>(count) * size);
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
      const std::string graph = infeed::NameOfCudnnGraph(
          Of(one).Part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
      *count = graph.empty() || settings.without_engines.contains(graph)
                   ? 0
                   : std::min<std::int64_t>(most, settings.engines_of_mode);
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
  if (!infeed::RunCudnnGraph(*Of(plan).graph, Of(pack))) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  ++infeed::calls.graphs[infeed::NameOfCudnnGraph(*Of(plan).graph)];
  infeed::calls.executed.push_back(Of(plan).engine);
  infeed::calls.workspaces.push_back(
      Of(pack).Get<const void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE).at(0));
  return CUDNN_STATUS_SUCCESS;
}

const char* cudnnGetErrorString(cudnnStatus_t /*status*/) {
  return "not supported";
}
