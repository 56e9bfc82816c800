#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

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
