#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

// The part of cuDNN's graph API that trainer/kernels/cudnn_graph.cc uses, on
// the CPU: <cudnn.h> is this header. It has engines for the graphs for which
// cuDNN 9.19 has some (cudnn_graph_on_cpu.h), and computes them in float32. One
// thread at a time.

struct cudnnContext;
using cudnnHandle_t = cudnnContext*;
using cudnnBackendDescriptor_t = void*;

enum cudnnStatus_t {
  CUDNN_STATUS_SUCCESS,
  CUDNN_STATUS_BAD_PARAM,
  CUDNN_STATUS_NOT_SUPPORTED,
};
enum cudnnDataType_t {
  CUDNN_DATA_FLOAT,
  CUDNN_DATA_HALF,
  CUDNN_DATA_BFLOAT16,
};
enum cudnnConvolutionMode_t { CUDNN_CROSS_CORRELATION };
enum cudnnPointwiseMode_t {
  CUDNN_POINTWISE_ADD,
  CUDNN_POINTWISE_MUL,
  CUDNN_POINTWISE_SUB,
  CUDNN_POINTWISE_RELU_FWD,
  CUDNN_POINTWISE_RELU_BWD,
};
enum cudnnGenStatsMode_t { CUDNN_GENSTATS_SUM_SQSUM };
enum cudnnBackendHeurMode_t { CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK };
enum cudnnBackendNumericalNote_t {
  CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
  CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
  CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
};
enum cudnnBackendDescriptorType_t {
  CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
  CUDNN_BACKEND_ENGINE_DESCRIPTOR,
  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
  CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
  CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
  CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
  CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
  CUDNN_BACKEND_TENSOR_DESCRIPTOR,
  CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
};
enum cudnnBackendAttributeType_t {
  CUDNN_TYPE_BACKEND_DESCRIPTOR,
  CUDNN_TYPE_BOOLEAN,
  CUDNN_TYPE_CONVOLUTION_MODE,
  CUDNN_TYPE_DATA_TYPE,
  CUDNN_TYPE_FLOAT,
  CUDNN_TYPE_GENSTATS_MODE,
  CUDNN_TYPE_HANDLE,
  CUDNN_TYPE_HEUR_MODE,
  CUDNN_TYPE_INT64,
  CUDNN_TYPE_NUMERICAL_NOTE,
  CUDNN_TYPE_POINTWISE_MODE,
  CUDNN_TYPE_VOID_PTR,
};
enum cudnnBackendAttributeName_t {
  CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
  CUDNN_ATTR_CONVOLUTION_CONV_MODE,
  CUDNN_ATTR_CONVOLUTION_DILATIONS,
  CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
  CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
  CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
  CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
  CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
  CUDNN_ATTR_ENGINECFG_ENGINE,
  CUDNN_ATTR_ENGINEHEUR_MODE,
  CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
  CUDNN_ATTR_ENGINEHEUR_RESULTS,
  CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
  CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
  CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
  CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
  CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC,
  CUDNN_ATTR_OPERATION_GENSTATS_MODE,
  CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC,
  CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
  CUDNN_ATTR_OPERATION_GENSTATS_XDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
  CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_DXDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_DYDESC,
  CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
  CUDNN_ATTR_OPERATIONGRAPH_OPS,
  CUDNN_ATTR_POINTWISE_MATH_PREC,
  CUDNN_ATTR_POINTWISE_MODE,
  CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
  CUDNN_ATTR_TENSOR_DATA_TYPE,
  CUDNN_ATTR_TENSOR_DIMENSIONS,
  CUDNN_ATTR_TENSOR_IS_VIRTUAL,
  CUDNN_ATTR_TENSOR_STRIDES,
  CUDNN_ATTR_TENSOR_UNIQUE_ID,
  CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
  CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
  CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
};

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* made);
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t one);
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t one,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       std::int64_t count, const void* values);
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t one,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       std::int64_t most, std::int64_t* count,
                                       void* values);
// Rejects a descriptor without an attribute that it needs, or with a part that
// is not finalized.
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t one);
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack);
const char* cudnnGetErrorString(cudnnStatus_t status);

namespace infeed {

// What the stand-in offers for each graph. An engine's number counts from 0 in
// both modes of the heuristics together.
struct CudnnOnCpu {
  int engines_of_mode = 2;
  std::vector<int> rejected = {};              // engines that have no plan
  std::set<std::string> without_engines = {};  // graphs, by their names
  std::vector<int> nondeterministic = {};
  std::int64_t workspace = 32;  // bytes
  bool is_broken = false;       // executions fail
};

// The current one; may be changed.
CudnnOnCpu& CudnnSettings();

// What happened since the last call of ResetCudnn(), which also resets the
// settings.
struct CudnnCalls {
  std::map<std::string, int> descriptors;  // those finalized, by their kind
  std::vector<int> executed;               // engines
  std::map<std::string, int> graphs;       // those executed, by their names
  std::vector<const void*> workspaces;     // of the executions
};
const CudnnCalls& CallsOfCudnn();
void ResetCudnn();

// Descriptors that are not destroyed.
int LiveCudnnDescriptors();

}  // namespace infeed
