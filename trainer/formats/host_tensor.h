#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
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

// The number types in files of weights, of this program and of others. In
// memory there are two: every float is a float32, every integer an int64.
enum class StoredType { kFloat16, kBfloat16, kFloat32, kFloat64, kInt64 };

[[nodiscard]] inline StoredType ToStoredType(DataType type) {
  return type == DataType::kFloat32 ? StoredType::kFloat32 : StoredType::kInt64;
}

[[nodiscard]] std::int64_t ElementBytes(StoredType type);

// Elements of a dense tensor. Throws DataError when a dimension is negative, or
// when the product, or its bytes in memory, do not fit into std::int64_t.
[[nodiscard]] std::int64_t ElementCount(std::span<const std::int64_t> shape);

// Bytes of a dense tensor as it is stored. Throws DataError as above.
[[nodiscard]] inline std::int64_t TensorBytes(
    StoredType type, std::span<const std::int64_t> shape) {
  return ElementCount(shape) * ElementBytes(type);
}

// The tensor of little-endian, row-major, dense bytes; float64 is rounded to
// the nearest float32, the others keep their value. Requires: bytes has
// TensorBytes(type, shape).
[[nodiscard]] HostTensor ToHostTensor(StoredType type,
                                      std::vector<std::int64_t> shape,
                                      std::span<const std::byte> bytes);

// A view of elements in memory: the element at an index is at offset + the sum
// of index * stride, all in elements.
struct StridedView {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // >= 0; as many as dimensions
};

// Whether all elements of a view lie within `elements` elements of memory, and
// the view has no more than those. Throws DataError when the shape is too
// large.
[[nodiscard]] bool Fits(const StridedView& view, std::int64_t elements);

// Copies a view's elements, each of so many bytes, in row-major order.
// Requires: the view fits.
[[nodiscard]] std::vector<std::byte> CopyStrided(
    const StridedView& view, std::int64_t element_bytes,
    std::span<const std::byte> memory);

}  // namespace infeed
