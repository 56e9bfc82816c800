#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/support/cudnn_on_cpu.h"

// Graphs of the stand-in of cuDNN (cudnn_on_cpu.h).
namespace infeed {

struct CudnnDescriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  // Of a configuration and what is made of it.
  int engine = -1;
  const CudnnDescriptor* graph = nullptr;
  std::map<cudnnBackendAttributeName_t, std::vector<std::byte>> attributes = {};

  template <typename T>
  [[nodiscard]] std::vector<T> Get(cudnnBackendAttributeName_t name) const {
    const std::vector<std::byte>& bytes = attributes.at(name);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  [[nodiscard]] const CudnnDescriptor& Part(
      cudnnBackendAttributeName_t name) const {
    return *Get<const CudnnDescriptor*>(name).at(0);
  }
};

// "sums": a convolution and the sums of its result. In float16 also "normed":
// the same of relu(x * scale + bias); "weight gradient" of that; "input
// gradient": before the ReLU of a norm, with the sums for the norm's gradients.
// Empty: cuDNN has no engine.
std::string NameOfCudnnGraph(const CudnnDescriptor& graph);

// Whether the pack has all tensors' memory.
bool RunCudnnGraph(const CudnnDescriptor& graph, const CudnnDescriptor& pack);

}  // namespace infeed
