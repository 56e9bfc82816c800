#pragma once

#include <memory>

#include "base/random.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/options.h"
#include "preprocess/resize/side.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// Returns the interpolation, with kRecipe replaced by the recipe's own, and
// kAntialiasRandom by kAntialiasBicubic unless `training` is set.
[[nodiscard]] Interpolation UsedInterpolation(const PreprocessOptions& options,
                                              bool training);

// The kernel of a sample's resize; kAntialiasRandom's is drawn from the
// sample's interpolation stream, Below(2), 1 for the cubic. Requires: `used` is
// UsedInterpolation()'s.
[[nodiscard]] ResizeKernel KernelOf(Interpolation used, const SampleKey& key);

// The resizes of an interpolation, one for each kernel that it has. One thread
// at a time.
class Resizers {
 public:
  // Requires: `used` is UsedInterpolation()'s. Throws UsageError for a size
  // below 1.
  Resizers(Interpolation used, const ImageSize& size);
  // The given resize whatever the kernel, for measurements.
  explicit Resizers(std::unique_ptr<ResizeSink> resize);

  // Requires: a kernel that KernelOf() returns for the interpolation.
  [[nodiscard]] ResizeSink& Of(ResizeKernel kernel) {
    return second_ != nullptr && kernel == ResizeKernel::kAntialiasBicubic
               ? *second_
               : *first_;
  }

 private:
  std::unique_ptr<ResizeSink> first_;
  std::unique_ptr<ResizeSink> second_;  // the cubic of kAntialiasRandom
};

}  // namespace infeed
