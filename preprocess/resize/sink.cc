#include "preprocess/resize/sink.h"

#include "preprocess/resize/antialias_sink.h"
#include "preprocess/resize/four_tap_sink.h"

namespace infeed {

std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel, int size) {
  if (kernel == ResizeKernel::kAntialias) {
    return std::make_unique<AntialiasSink>(size);
  }
  return std::make_unique<FourTapSink>(kernel, size);
}

}  // namespace infeed
