#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

enum class DataType { kFloat32, kInt64 };

// A tensor in plain host memory, without LibTorch, as checkpoints store it.
struct HostTensor {
  DataType type = DataType::kFloat32;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::vector<std::byte> bytes;     // little-endian, row-major, dense

  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

// The largest number of dimensions of a tensor in a file.
inline constexpr int kMaxRank = 16;

// Tensors by name, in the order in which files have them.
using TensorMap = std::map<std::string, HostTensor>;

// Suffix for the name of a tensor's moving average in the optimizer's state.
inline constexpr std::string_view kAverageSuffix = "/average";

// The tensors that a training step changes: parameters and buffers under
// torchvision's names, and the optimizer's state, such as the momentum of each
// parameter under the parameter's name.
struct ModelState {
  TensorMap model;
  TensorMap optimizer;
};

}  // namespace infeed
