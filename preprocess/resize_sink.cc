#include "preprocess/resize_sink.h"

#include "preprocess/antialias_sink.h"
#include "preprocess/four_tap_sink.h"

namespace infeed {

std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel, int size) {
  if (kernel == ResizeKernel::kAntialias) {
    return std::make_unique<AntialiasSink>(size);
  }
  return std::make_unique<FourTapSink>(kernel, size);
}

}  // namespace infeed
