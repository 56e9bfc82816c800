#include "trainer/optimizer/named_tensors.h"

#include <cstddef>
#include <cstring>
#include <set>

#include <ATen/ATen.h>

#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/fnv_hash.h"

namespace infeed {
namespace {

torch::ScalarType LibraryType(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return torch::kFloat;
    case DataType::kInt64:
      return torch::kLong;
  }
  Check(false, "a data type is one of its values");
  return torch::kFloat;
}

DataType HostType(torch::ScalarType type) {
  Check(type == torch::kFloat || type == torch::kLong,
        "state is float32 or int64");
  return type == torch::kFloat ? DataType::kFloat32 : DataType::kInt64;
}

std::string ShapeText(at::IntArrayRef shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    text.append(text.size() > 1 ? ", " : "").append(std::to_string(size));
  }
  return text + "]";
}

std::string TypeText(DataType type) {
  return type == DataType::kFloat32 ? "float32" : "int64";
}

void CheckFits(const std::string& name, const torch::Tensor& tensor,
               const HostTensor& state) {
  const DataType type = HostType(tensor.scalar_type());
  if (state.type != type) {
    throw DataError("tensor " + name + " is " + TypeText(state.type) +
                    ", the model's is " + TypeText(type));
  }
  if (at::IntArrayRef(state.shape) != tensor.sizes()) {
    throw DataError("tensor " + name + " has the shape " +
                    ShapeText(state.shape) + ", the model's has " +
                    ShapeText(tensor.sizes()));
  }
  if (state.bytes.size() != tensor.nbytes()) {
    throw DataError("tensor " + name + " has " +
                    std::to_string(state.bytes.size()) + " bytes instead of " +
                    std::to_string(tensor.nbytes()));
  }
}

}  // namespace

TensorMap ToHost(const NamedTensors& tensors) {
  TensorMap state;
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor dense = tensor.detach()
                                    .to(torch::kCPU)
                                    .contiguous(at::MemoryFormat::Contiguous);
    HostTensor& host = state[name];
    host.type = HostType(dense.scalar_type());
    host.shape = dense.sizes().vec();
    host.bytes.resize(dense.nbytes());
    std::memcpy(host.bytes.data(), dense.data_ptr(), dense.nbytes());
  }
  return state;
}

void CheckFits(const NamedTensors& tensors, const TensorMap& state,
               std::string_view optional) {
  const auto is_optional = [optional](const std::string& name) {
    return !optional.empty() && name.starts_with(optional);
  };
  std::set<std::string> known;
  for (const auto& [name, tensor] : tensors) {
    known.insert(name);
    const auto found = state.find(name);
    if (found != state.end()) {
      CheckFits(name, tensor, found->second);
    } else if (!is_optional(name)) {
      throw DataError("tensor " + name + " is missing");
    }
  }
  for (const auto& entry : state) {
    if (!known.contains(entry.first) && !is_optional(entry.first)) {
      throw DataError("tensor " + entry.first + " is not one of the model's");
    }
  }
}

void FromHost(const NamedTensors& tensors, const TensorMap& state) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    const auto found = state.find(name);
    if (found == state.end()) {
      continue;
    }
    const HostTensor& host = found->second;
    // LibTorch has no const tensors; this one is only read.
    auto* bytes = const_cast<std::byte*>(host.bytes.data());
    torch::Tensor target = tensor;
    target.copy_(torch::from_blob(bytes, host.shape, LibraryType(host.type)));
  }
}

std::vector<NonFiniteTensor> FindNonFiniteTensors(const std::string& kind,
                                                  const NamedTensors& tensors) {
  std::vector<NonFiniteTensor> found;
  for (const auto& [name, tensor] : tensors) {
    const auto count =
        tensor.isfinite().logical_not().sum().item<std::int64_t>();
    if (count > 0) {
      found.push_back({kind, name, count, tensor.numel()});
    }
  }
  return found;
}

std::uint64_t HashTensors(const TensorMap& state) {
  std::string text;
  for (const auto& [name, tensor] : state) {
    text += name + ' ' + std::to_string(Crc32c(tensor.bytes)) + '\n';
  }
  return FnvHash(text);
}

}  // namespace infeed
