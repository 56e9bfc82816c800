#include "trainer/formats/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "trainer/formats/stored_type.h"

namespace infeed {

bool Fits(const StridedView& view, std::int64_t elements) {
  const std::int64_t count = ElementCount(view.shape);
  std::int64_t last = view.offset;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(view.shape[i] - 1, 0),
                               view.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  return view.offset >= 0 && count <= elements &&
         (count == 0 || last < elements);
}

std::vector<std::byte> CopyStrided(const StridedView& view,
                                   std::int64_t element_bytes,
                                   std::span<const std::byte> memory) {
  const auto width = static_cast<std::size_t>(element_bytes);
  const auto count = static_cast<std::size_t>(ElementCount(view.shape));
  std::vector<std::byte> dense(count * width);
  std::vector<std::int64_t> index(view.shape.size());
  std::int64_t place = view.offset;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(dense.data() + i * width,
                memory.data() + static_cast<std::size_t>(place) * width, width);
    // The next index, as a counter whose last digit is the fastest.
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < view.shape[d]) {
        place += view.strides[d];
        break;
      }
      place -= view.strides[d] * (view.shape[d] - 1);
      index[d] = 0;
    }
  }
  return dense;
}

}  // namespace infeed
