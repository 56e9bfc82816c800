#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/random.h"
#include "preprocess/augment/augment.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/pixel_place.h"
#include "preprocess/recipe/fill_counts.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/window_sink.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// How an encoded image becomes a slot's pixels: docs/recipes.md.
enum class Recipe {
  kTpu,  // the reference: training crop and flip; evaluation centre crop
  kTorchvision,  // RandomResizedCrop, flip; evaluation resize, centre crop
  kPlain,        // the whole image resized; nothing random
  kCifar,        // the whole image; in training moved by up to 4 pixels, flip
};

// How a window becomes a square of pixels (ResizeKernel).
enum class Interpolation {
  kRecipe,    // the recipe's own: bicubic of tpu and plain, else antialias
  kBicubic,   // TensorFlow's legacy bicubic (preprocess/resize/resize.h)
  kBilinear,  // two samples each way, whatever the scale; half-pixel centres
  kAntialias  // bilinear over as many samples as the scale says: Pillow's
};

// "tpu", "torchvision", "plain", "cifar"; "recipe", "bicubic", "bilinear",
// "antialias". Throw UsageError naming what there is.
[[nodiscard]] Recipe ParseRecipe(std::string_view name);
[[nodiscard]] std::string_view RecipeName(Recipe recipe);
[[nodiscard]] Interpolation ParseInterpolation(std::string_view name);
[[nodiscard]] std::string_view InterpolationName(Interpolation interpolation);

// The interpolation itself: the recipe's own in the place of kRecipe.
[[nodiscard]] Interpolation UsedInterpolation(Recipe recipe,
                                              Interpolation interpolation);

struct PreprocessOptions {
  Recipe recipe = Recipe::kTpu;
  Interpolation interpolation = Interpolation::kRecipe;
  bool training = true;  // false: nothing random
  // Of the recipes that mirror training images: digits and letters are others
  // then.
  bool random_flip = true;
  int image_size = 224;  // side of the output, pixels; > 0
  // Decodes a JPEG to 1/2, 1/4 or 1/8 of its size where as many pixels are then
  // still left as it is resized to, both ways: less work, and other pixels (as
  // if the image had been made smaller by areas before, which aliases less).
  bool scaled_decode = false;
  AugmentOptions augment = {};  // of training images, after all else
  JpegLimits limits = {};       // of images of other formats too
  // Whether a JPEG that libjpeg warns about is bad.
  JpegWarnings warnings = JpegWarnings::kErrors;
};

// The kernel of the recipe's resize.
[[nodiscard]] ResizeKernel KernelOf(const PreprocessOptions& options);

// Returns the recipe's resize. Throws UsageError for a size below 1.
[[nodiscard]] std::unique_ptr<ResizeSink> MakeResize(
    const PreprocessOptions& options);

// Whether the sample is mirrored: its flip stream says so, where the recipe
// mirrors training images.
[[nodiscard]] bool IsFlipped(const PreprocessOptions& options,
                             const SampleKey& key);

// Turns one encoded image (JPEG, or PNG and others through OpenCV, told apart
// by content) into packed pixels in one go: the decoder's rows are resized,
// flipped and packed straight into the destination while they are in cache. A
// function of (bytes, options, key) alone; the object only keeps buffers. One
// thread at a time: each worker has one.
class Preprocessor {
 public:
  // Throws UsageError for a size or a limit below 1, or augmentation out of its
  // range.
  explicit Preprocessor(const PreprocessOptions& options);
  // The same with another resize than the recipe's, for measurements.
  Preprocessor(const PreprocessOptions& options,
               std::unique_ptr<ResizeSink> resize);

  // Chooses the window (crop stream of key), decodes it and fills destination,
  // [image_size, image_size], mirrored where the flip stream of key says so and
  // augmented by the augmentation stream.
  // seek_index: SerializeSeekIndex()'s bytes of this JPEG, or none; whatever
  // they are, they make no difference but speed, and to index_use. Throws
  // DataError, what is in destination then means nothing; the preprocessor is
  // usable after that. Requires: destination.size() == image_size^2.
  FillCounts Fill(std::span<const std::byte> encoded, const SampleKey& key,
                  std::span<std::uint32_t> destination,
                  std::span<const std::byte> seek_index = {});

  // The same into a place that may take the window, as far as it is decoded, in
  // the place of its image. Requires: it does so only where the kernel has four
  // taps and the recipe is done once pixels are resized.
  FillCounts Fill(std::span<const std::byte> encoded, const SampleKey& key,
                  PixelPlace& place,
                  std::span<const std::byte> seek_index = {});

  // The same for an image that is packed already, height * width
  // little-endian uint32: copies it into destination, flipped, by kCifar moved,
  // and augmented as Fill() would. Throws DataError unless it is image_size x
  // image_size. Requires: destination.size() == image_size^2.
  FillCounts CopyPacked(std::span<const std::byte> packed, std::int64_t height,
                        std::int64_t width, const SampleKey& key,
                        std::span<std::uint32_t> destination);

 private:
  [[nodiscard]] Framing ChooseFraming(int height, int width, int components,
                                      const SampleKey& key) const;
  [[nodiscard]] DecodePlan Plan(const Framing& framing, bool is_scaled) const;

  // A sample, where it goes, and what makes its pixels.
  struct Target;
  void Aim(const DecodePlan& plan, Target& target);

  // Decode the framing into the target and return what was done, without the
  // times.
  FillCounts DecodeJpeg(std::span<const std::byte> encoded,
                        std::span<const std::byte> seek_index, Target& target);
  FillCounts DecodeOther(std::span<const std::byte> encoded, Target& target);

  // What a training recipe does to the pixels once they are in their place.
  void Finish(const SampleKey& key, std::span<std::uint32_t> pixels) const;
  // Returns the time that it took, 0 where there is nothing to do.
  std::chrono::steady_clock::duration Augment(const SampleKey& key,
                                              std::span<std::uint32_t> pixels);

  PreprocessOptions options_;
  JpegDecoder decoder_;
  JpegSeekIndex index_;
  RgbImage image_;  // a whole one, where it is not a JPEG
  std::unique_ptr<ResizeSink> sink_;
  WindowSink window_sink_;
  Augmenter augmenter_;
};

}  // namespace infeed
