#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace infeed {

// A view of elements in memory: the one at an index lies at offset + the sum
// of index * stride, all in elements.
struct StridedView {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // >= 0; as many as dimensions
};

// Whether a view picks elements among `elements` in memory, and no more of
// them than there are. Throws DataError when the shape is too large.
[[nodiscard]] bool Fits(const StridedView& view, std::int64_t elements);

// Copies a view's elements, each of so many bytes, in row-major order.
// Requires: the view fits.
[[nodiscard]] std::vector<std::byte> CopyStrided(
    const StridedView& view, std::int64_t element_bytes,
    std::span<const std::byte> memory);

}  // namespace infeed
