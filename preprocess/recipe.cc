#include "preprocess/recipe.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "preprocess/crop.h"
#include "preprocess/image_decoder.h"
#include "preprocess/named_choice.h"
#include "preprocess/opencv_image.h"
#include "preprocess/row_sink.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Choices<Recipe, 2> kRecipes = {
    {{"tpu", Recipe::kTpu}, {"plain", Recipe::kPlain}}};
constexpr Choices<Interpolation, 4> kInterpolations = {
    {{"recipe", Interpolation::kRecipe},
     {"bicubic", Interpolation::kBicubic},
     {"bilinear", Interpolation::kBilinear},
     {"antialias", Interpolation::kAntialias}}};

// OpenCV's image, ours, and what its decoders take beside them.
constexpr std::int64_t kOtherPixelBytes = 8;

int CheckedSize(int image_size) {
  if (image_size < 1) {
    throw UsageError("PreprocessOptions::image_size must be above 0");
  }
  return image_size;
}

bool DrawFlip(const SampleKey& key) {
  return SampleRandom(key, RandomStream::kFlip).Real() < 0.5F;
}

}  // namespace

Recipe ParseRecipe(std::string_view name) {
  return ParseChoice("recipe", name, kRecipes);
}

std::string_view RecipeName(Recipe recipe) {
  return ChoiceName(recipe, kRecipes);
}

Interpolation ParseInterpolation(std::string_view name) {
  return ParseChoice("interpolation", name, kInterpolations);
}

std::string_view InterpolationName(Interpolation interpolation) {
  return ChoiceName(interpolation, kInterpolations);
}

Preprocessor::Preprocessor(const PreprocessOptions& options)
    : options_(options),
      decoder_(options.limits, options.warnings),
      sink_(MakeResizeSink(ResizeKernel::kBicubic,
                           CheckedSize(options.image_size))),
      augmenter_(options.augment, options.image_size) {}

FillCounts Preprocessor::Fill(std::span<const std::byte> encoded,
                              const SampleKey& key,
                              std::span<std::uint32_t> destination,
                              std::span<const std::byte> seek_index) {
  const Clock::time_point start = Clock::now();
  sink_->Aim(destination, IsFlipped(key));
  FillCounts counts = IsJpeg(encoded) ? DecodeJpeg(encoded, key, seek_index)
                                      : DecodeOther(encoded, key);
  Check(sink_->is_complete(), "a decoder puts all rows or throws");
  counts.resize = sink_->busy();
  counts.decode = Clock::now() - start - counts.resize;
  counts.augment = Augment(key, destination);
  return counts;
}

FillCounts Preprocessor::DecodeJpeg(std::span<const std::byte> encoded,
                                    const SampleKey& key,
                                    std::span<const std::byte> seek_index) {
  const JpegInfo info = decoder_.ReadHeader(encoded);
  Window window = ChooseWindow(info.height, info.width, info.components, key);
  int denominator = 1;
  if (options_.scaled_decode) {
    denominator = ScaleDenominator(window, options_.image_size);
    window = ScaledWindow(window, denominator);
  }
  const bool is_index =
      !seek_index.empty() && ParseSeekIndex(seek_index, index_);
  decoder_.DecodeScaledWindow(denominator, window, *sink_,
                              is_index ? &index_ : nullptr);
  return {.decoded_pixels = std::int64_t{window.width} * window.height,
          .index_use = is_index || seek_index.empty() ? decoder_.index_use()
                                                      : JpegIndexUse::kRefused,
          .warning = decoder_.warning()};
}

FillCounts Preprocessor::DecodeOther(std::span<const std::byte> encoded,
                                     const SampleKey& key) {
  const JpegLimits& limits = options_.limits;
  DecodeOtherImage(
      encoded,
      std::min(limits.max_pixels, limits.max_memory_bytes / kOtherPixelBytes),
      image_);
  const Window window = ChooseWindow(image_.height(), image_.width(), 3, key);
  PutImage(image_.view(window), *sink_);
  return {.decoded_pixels = std::int64_t{image_.width()} * image_.height()};
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

bool Preprocessor::IsFlipped(const SampleKey& key) const {
  return options_.recipe == Recipe::kTpu && options_.training && DrawFlip(key);
}

Clock::duration Preprocessor::Augment(const SampleKey& key,
                                      std::span<std::uint32_t> pixels) {
  if (!options_.training || !options_.augment.is_any_on()) {
    return {};
  }
  const Clock::time_point start = Clock::now();
  augmenter_.Apply(pixels, key);
  return Clock::now() - start;
}

FillCounts Preprocessor::CopyPacked(std::span<const std::byte> packed,
                                    std::int64_t height, std::int64_t width,
                                    const SampleKey& key,
                                    std::span<std::uint32_t> destination) {
  const Clock::time_point start = Clock::now();
  static_assert(std::endian::native == std::endian::little,
                "records hold pixels as they are in memory");
  const int size = options_.image_size;
  Check(destination.size() == static_cast<std::size_t>(size) * size,
        "a slot has the pixels of one image");
  if (height != size || width != size) {
    const std::string found =
        std::to_string(height) + "x" + std::to_string(width);
    throw DataError("packed pixels of " + found + " where image_size is " +
                    std::to_string(size) + ": read them with image_size " +
                    std::to_string(height) + ", or convert again with " +
                    "--image_size " + std::to_string(size));
  }
  if (packed.size() != destination.size_bytes()) {
    throw DataError("image/packed has " + std::to_string(packed.size()) +
                    " bytes, expected " +
                    std::to_string(destination.size_bytes()));
  }
  std::memcpy(destination.data(), packed.data(), packed.size());
  for (std::uint32_t& pixel : destination) {
    pixel &= 0xFFFFFF00;  // The low byte of a batch's pixels is 0.
  }
  if (IsFlipped(key)) {
    for (std::size_t row = 0; row < destination.size(); row += size) {
      std::reverse(
          destination.begin() + static_cast<std::ptrdiff_t>(row),
          destination.begin() + static_cast<std::ptrdiff_t>(row) + size);
    }
  }
  FillCounts counts;
  counts.resize = Clock::now() - start;
  counts.augment = Augment(key, destination);
  return counts;
}

}  // namespace infeed
