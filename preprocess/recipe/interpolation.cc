#include "preprocess/recipe/interpolation.h"

#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

ImageSize CheckedSize(const ImageSize& image_size) {
  if (image_size.shorter() < 1) {
    throw UsageError("PreprocessOptions::image_size must be above 0");
  }
  return image_size;
}

}  // namespace

Interpolation UsedInterpolation(const PreprocessOptions& options,
                                bool training) {
  if (options.interpolation == Interpolation::kAntialiasRandom && !training) {
    return Interpolation::kAntialiasBicubic;
  }
  if (options.interpolation != Interpolation::kRecipe) {
    return options.interpolation;
  }
  return options.recipe == Recipe::kTpu || options.recipe == Recipe::kPlain
             ? Interpolation::kBicubic
             : Interpolation::kAntialias;
}

ResizeKernel KernelOf(Interpolation used, const SampleKey& key) {
  switch (used) {
    case Interpolation::kBicubic:
      return ResizeKernel::kBicubic;
    case Interpolation::kBilinear:
      return ResizeKernel::kBilinear;
    case Interpolation::kAntialias:
      return ResizeKernel::kAntialias;
    case Interpolation::kAntialiasBicubic:
      return ResizeKernel::kAntialiasBicubic;
    case Interpolation::kAntialiasRandom:
      return SampleRandom(key, RandomStream::kInterpolation).Below(2) == 1
                 ? ResizeKernel::kAntialiasBicubic
                 : ResizeKernel::kAntialias;
    case Interpolation::kRecipe:
      break;  // not returned by UsedInterpolation()
  }
  std::abort();
}

Resizers::Resizers(Interpolation used, const ImageSize& size)
    : first_(MakeResizeSink(used == Interpolation::kAntialiasRandom
                                ? ResizeKernel::kAntialias
                                : KernelOf(used, {}),
                            CheckedSize(size))) {
  if (used == Interpolation::kAntialiasRandom) {
    second_ = MakeResizeSink(ResizeKernel::kAntialiasBicubic, size);
  }
}

Resizers::Resizers(std::unique_ptr<ResizeSink> resize)
    : first_(std::move(resize)) {}

}  // namespace infeed
