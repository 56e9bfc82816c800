#include "preprocess/recipe/pair.h"

#include <cstdint>

namespace infeed {
namespace {

// Whether the resize makes the output's pixels of all of the window, and
// nothing moves them.
bool ShowsWholeWindows(Recipe recipe, bool training) {
  return recipe == Recipe::kTpu || recipe == Recipe::kPlain ||
         (recipe == Recipe::kTorchvision && training) ||
         (recipe == Recipe::kCifar && !training);
}

bool IsInProportion(const PreprocessOptions& options,
                    const PreprocessOptions& followed) {
  return std::int64_t{options.crop.eval_resize} *
             followed.image_size.shorter() ==
         std::int64_t{followed.crop.eval_resize} * options.image_size.shorter();
}

}  // namespace

bool SharesFraming(const PreprocessOptions& options,
                   const PreprocessOptions& followed) {
  CropOptions crop = options.crop;
  if (IsInProportion(options, followed)) {
    crop.eval_resize = followed.crop.eval_resize;
  }
  FitOptions fit = options.fit;
  fit.fill = followed.fit.fill;
  return options.recipe == followed.recipe && crop == followed.crop &&
         fit == followed.fit;
}

bool IsExactPair(const PreprocessOptions& options,
                 const PreprocessOptions& followed, bool training) {
  return ShowsWholeWindows(options.recipe, training) ||
         WholeRatio(options.image_size, followed.image_size) > 0;
}

int WholeRatio(const ImageSize& size, const ImageSize& other) {
  const int times = other.height > 0 ? size.height / other.height : 0;
  return times * other.height == size.height &&
                 std::int64_t{times} * other.width == size.width
             ? times
             : 0;
}

Window Enlarged(const Window& window, int times) {
  return {.y = times * window.y,
          .x = times * window.x,
          .height = times * window.height,
          .width = times * window.width};
}

// A resized window is as long as the output, or the ratio is whole: the
// divisions are exact.
Geometry AtSize(const FollowedOutput& followed, const ImageSize& size) {
  const auto down = [&](int rows) {
    return static_cast<int>(std::int64_t{rows} * size.height /
                            followed.size.height);
  };
  const auto across = [&](int columns) {
    return static_cast<int>(std::int64_t{columns} * size.width /
                            followed.size.width);
  };
  Geometry geometry = followed.geometry;
  geometry.resized = {down(geometry.resized.height),
                      across(geometry.resized.width)};
  geometry.y = down(geometry.y);
  geometry.x = across(geometry.x);
  geometry.padding = static_cast<std::int16_t>(down(geometry.padding));
  return geometry;
}

Framing FramingAtSize(const FollowedOutput& followed, const ImageSize& size) {
  const Geometry geometry = AtSize(followed, size);
  const bool is_moved = geometry.padding != 0;
  return {.window = geometry.window,
          .height = geometry.resized.height,
          .width = geometry.resized.width,
          .y = is_moved ? 0 : geometry.y,
          .x = is_moved ? 0 : geometry.x};
}

}  // namespace infeed
