#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/formats/host_tensor.h"

// The number types in files of weights, of this program and of others. In
// memory there are two: every float is a float32, every integer an int64.
namespace infeed {

enum class StoredType { kFloat16, kBfloat16, kFloat32, kFloat64, kInt64 };

[[nodiscard]] StoredType ToStoredType(DataType type);

[[nodiscard]] std::int64_t ElementBytes(StoredType type);

// Elements of a dense tensor. Throws DataError when a dimension is negative, or
// when the product, or its bytes in memory, do not fit into std::int64_t.
[[nodiscard]] std::int64_t ElementCount(std::span<const std::int64_t> shape);

// Bytes of a dense tensor as it is stored. Throws DataError as above.
[[nodiscard]] std::int64_t TensorBytes(StoredType type,
                                       std::span<const std::int64_t> shape);

// The tensor of little-endian, row-major, dense bytes; float64 is rounded to
// the nearest float32, the others keep their value. Requires: bytes has
// TensorBytes(type, shape).
[[nodiscard]] HostTensor ToHostTensor(StoredType type,
                                      std::vector<std::int64_t> shape,
                                      std::span<const std::byte> bytes);

}  // namespace infeed
