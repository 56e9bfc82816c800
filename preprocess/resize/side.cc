#include "preprocess/resize/side.h"

#include <algorithm>

#include "base/error.h"
#include "preprocess/resize/antialias.h"
#include "preprocess/resize/resize.h"

namespace infeed {

ResizeSpan PlaceOfOutputs(const ResizeSide& side, int length) {
  return {
      .first = side.margin,
      .count = std::min(side.out_size - side.out_first, length - side.margin)};
}

ResizeSpan SupportOf(ResizeKernel kernel, const ResizeSide& side, int count) {
  Check(count > 0 && side.out_first >= 0 &&
            side.out_first + count <= side.out_size,
        "the outputs are the side's");
  const int last_out = side.out_first + count - 1;
  if (IsAntialiased(kernel)) {
    const AntialiasAxis axis(kernel, side.in_size, side.out_size);
    const int first = axis.Support(side.out_first).first;
    const ResizeSpan last = axis.Support(last_out);
    return {.first = first, .count = last.first + last.count - first};
  }
  const FourTapAxis axis(kernel, side.in_size, side.out_size);
  const int first = std::max(axis.At(side.out_first).first, 0);
  const int end = std::min(axis.At(last_out).first + 4, side.in_size);
  return {.first = first, .count = end - first};
}

}  // namespace infeed
