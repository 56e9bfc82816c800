#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.h"
#include "preprocess/image.h"
#include "preprocess/jpeg.h"
#include "preprocess/resize.h"

namespace infeed {

// How an encoded image becomes a slot's pixels.
enum class Recipe {
  kTpu,    // the reference: training crop and flip; evaluation centre crop
  kPlain,  // the whole image resized; nothing random
};

// "tpu", "plain". Throws UsageError naming the recipes there are.
[[nodiscard]] Recipe ParseRecipe(std::string_view name);
[[nodiscard]] std::string_view RecipeName(Recipe recipe);

struct PreprocessOptions {
  Recipe recipe = Recipe::kTpu;
  bool training = true;  // false: nothing random
  int image_size = 224;  // side of the output, pixels; > 0
  JpegLimits limits = {};
};

// Turns one encoded image (JPEG, or PNG and others through OpenCV, told apart
// by content) into packed pixels: decode of the window, then bicubic resize,
// flip and pack. A function of (bytes, options, key) alone; the object only
// keeps buffers. One thread at a time: each worker has one.
class Preprocessor {
 public:
  // Throws UsageError for a size or a limit below 1.
  explicit Preprocessor(const PreprocessOptions& options);

  // First half: chooses the window (crop stream of key) and decodes it.
  // Throws DataError; the preprocessor is usable after that.
  void Decode(std::span<const std::byte> encoded, const SampleKey& key);

  // Second half: fills destination, [image_size, image_size], drawing from the
  // flip stream of key. Requires: Decode() returned for the same key, and
  // destination.size() == image_size^2.
  void Resize(const SampleKey& key, std::span<std::uint32_t> destination);

  // Both halves for an image that is packed already, height * width
  // little-endian uint32: copies it into destination, flipped where Resize()
  // would. Throws DataError unless it is image_size x image_size. Requires:
  // destination.size() == image_size^2.
  void CopyPacked(std::span<const std::byte> packed, std::int64_t height,
                  std::int64_t width, const SampleKey& key,
                  std::span<std::uint32_t> destination) const;

  // Pixels decoded by the last Decode().
  [[nodiscard]] std::int64_t decoded_pixels() const {
    return std::int64_t{image_.width()} * image_.height();
  }

 private:
  [[nodiscard]] Window ChooseWindow(int height, int width, int components,
                                    const SampleKey& key) const;
  [[nodiscard]] bool IsFlipped(const SampleKey& key) const;

  PreprocessOptions options_;
  JpegDecoder decoder_;
  RgbImage image_;
  Window window_;  // what is used of image_; empty until Decode() returned
};

}  // namespace infeed
