#include "preprocess/recipe.h"

#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "preprocess/crop.h"
#include "preprocess/opencv_image.h"

namespace infeed {
namespace {

bool IsJpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0xFF} &&
         bytes[1] == std::byte{0xD8};
}

bool DrawFlip(const SampleKey& key) {
  return SampleRandom(key, RandomStream::kFlip).Real() < 0.5F;
}

}  // namespace

Recipe ParseRecipe(std::string_view name) {
  for (const Recipe recipe : {Recipe::kTpu, Recipe::kPlain}) {
    if (name == RecipeName(recipe)) {
      return recipe;
    }
  }
  throw UsageError("unknown recipe '" + std::string(name) +
                   "' (there are: tpu, plain)");
}

std::string_view RecipeName(Recipe recipe) {
  switch (recipe) {
    case Recipe::kTpu:
      return "tpu";
    case Recipe::kPlain:
      return "plain";
  }
  std::abort();
}

Preprocessor::Preprocessor(const PreprocessOptions& options)
    : options_(options), decoder_(options.limits) {
  if (options.image_size < 1) {
    throw UsageError("PreprocessOptions::image_size must be above 0");
  }
}

void Preprocessor::Decode(std::span<const std::byte> encoded,
                          const SampleKey& key) {
  window_ = {};
  if (IsJpeg(encoded)) {
    const JpegInfo info = decoder_.ReadHeader(encoded);
    decoder_.DecodeWindow(
        ChooseWindow(info.height, info.width, info.components, key), image_);
    window_ = {
        .y = 0, .x = 0, .height = image_.height(), .width = image_.width()};
  } else {
    DecodeOtherImage(encoded, options_.limits.max_pixels, image_);
    window_ = ChooseWindow(image_.height(), image_.width(), 3, key);
  }
}

Window Preprocessor::ChooseWindow(int height, int width, int components,
                                  const SampleKey& key) const {
  switch (options_.recipe) {
    case Recipe::kTpu:
      if (options_.training) {
        SampleRandom random(key, RandomStream::kCrop);
        return TrainingWindow(height, width, components, options_.image_size,
                              random);
      }
      return CenterCropWindow(height, width, options_.image_size);
    case Recipe::kPlain:
      return {.y = 0, .x = 0, .height = height, .width = width};
  }
  std::abort();
}

void Preprocessor::Resize(const SampleKey& key,
                          std::span<std::uint32_t> destination) {
  Check(window_.width > 0, "an image is decoded before it is resized");
  const bool flip =
      options_.recipe == Recipe::kTpu && options_.training && DrawFlip(key);
  ResizeBicubic(image_.view(window_), options_.image_size, flip, scratch_,
                destination);
}

}  // namespace infeed
