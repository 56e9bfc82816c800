#include "preprocess/resize_side.h"

#include <algorithm>

#include "base/error.h"
#include "preprocess/antialias.h"
#include "preprocess/resize.h"

namespace infeed {

ResizeSupport SupportOf(ResizeKernel kernel, const ResizeSide& side,
                        int count) {
  Check(count > 0 && side.out_first >= 0 &&
            side.out_first + count <= side.out_size,
        "the outputs are the side's");
  const int last_out = side.out_first + count - 1;
  int first = 0;
  int end = 0;
  if (kernel == ResizeKernel::kAntialias) {
    AntialiasAxis axis(side.in_size, side.out_size);
    first = axis.At(side.out_first).first;
    const AntialiasTaps last = axis.At(last_out);
    end = last.first + static_cast<int>(last.weights.size());
  } else {
    const FourTapAxis axis(kernel, side.in_size, side.out_size);
    first = std::max(axis.At(side.out_first).first, 0);
    end = std::min(axis.At(last_out).first + 4, side.in_size);
  }
  return {.first = first, .count = end - first};
}

}  // namespace infeed
