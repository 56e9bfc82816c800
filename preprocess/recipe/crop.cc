#include "preprocess/recipe/crop.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "preprocess/recipe/options.h"

namespace infeed {
namespace {

constexpr int kAttempts = 10;
constexpr float kMinAspect = 3.0F / 4;
constexpr float kMaxAspect = 4.0F / 3;
constexpr float kMinArea = 0.08F;
constexpr float kMaxArea = 1.0F;
constexpr float kMinCovered = 0.1F;  // Fraction of the image.

// In float and rounded half to even, as in the reference.
int Round(float value) { return static_cast<int>(std::lrintf(value)); }

// An image's size, and the limits of a crop's area.
struct Bounds {
  int height;
  int width;
  float min_area;
  float max_area;
};

struct Size {
  int height;
  int width;

  [[nodiscard]] float area() const {
    return static_cast<float>(static_cast<std::int64_t>(height) * width);
  }
};

// The largest height whose width, at the aspect ratio, still fits.
int MaxHeight(const Bounds& bounds, float aspect) {
  int height = Round(std::sqrt(bounds.max_area / aspect));
  if (Round(static_cast<float>(height) * aspect) > bounds.width) {
    // Adds the half that rounding allows, minus a small margin.
    const double widest = bounds.width + 0.5 - 1e-7F;
    height = static_cast<int>(widest / aspect);
    if (Round(static_cast<float>(height) * aspect) > bounds.width) {
      --height;
    }
  }
  return std::min(height, bounds.height);
}

// Draws the size of one attempt; nullopt if the attempt fails.
std::optional<Size> DrawSize(const Bounds& bounds, RandomSource& random) {
  const float aspect = random.Real() * (kMaxAspect - kMinAspect) + kMinAspect;
  const int max_height = MaxHeight(bounds, aspect);
  Size size{};
  size.height =
      std::min(Round(std::sqrt(bounds.min_area / aspect)), max_height);
  if (size.height < max_height) {
    size.height += static_cast<int>(
        random.Below(static_cast<std::uint32_t>(max_height - size.height + 1)));
  }
  const auto widen = [&] {
    size.width = Round(static_cast<float>(size.height) * aspect);
  };
  widen();
  // Rounding may have moved the area out of bounds by a row.
  if (size.area() < bounds.min_area) {
    ++size.height;
    widen();
  }
  if (size.area() > bounds.max_area) {
    --size.height;
    widen();
  }
  const bool fits =
      size.area() >= bounds.min_area && size.area() <= bounds.max_area &&
      size.width <= bounds.width && size.height <= bounds.height &&
      size.width > 0 && size.height > 0;
  return fits ? std::optional(size) : std::nullopt;
}

// As in the reference, the last place is excluded: a smaller crop never touches
// the bottom or the right edge.
int DrawPlace(int whole, int part, RandomSource& random) {
  return part < whole ? static_cast<int>(random.Below(
                            static_cast<std::uint32_t>(whole - part)))
                      : 0;
}

}  // namespace

Window RandomCropWindow(int height, int width, RandomSource& random) {
  Check(height > 0 && width > 0, "an image has pixels");
  const auto area = [&](float fraction) {
    return fraction * static_cast<float>(width) * static_cast<float>(height);
  };
  const Bounds bounds{height, width, area(kMinArea), area(kMaxArea)};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::optional<Size> size = DrawSize(bounds, random);
    if (!size) {
      continue;
    }
    const int y = DrawPlace(height, size->height, random);
    const int x = DrawPlace(width, size->width, random);
    if (size->area() >= 1 &&
        size->area() / Size{height, width}.area() >= kMinCovered) {
      return {.y = y, .x = x, .height = size->height, .width = size->width};
    }
  }
  return {.y = 0, .x = 0, .height = height, .width = width};
}

Window CenterCropWindow(int height, int width, float fraction,
                        const ImageSize& output) {
  Check(height > 0 && width > 0 && fraction > 0, "an image has pixels");
  // The side that limits the window's size, then the other.
  const bool is_wide = std::int64_t{height} * output.width <=
                       std::int64_t{width} * output.height;
  const float limit = fraction * static_cast<float>(is_wide ? height : width);
  const double other =
      is_wide ? static_cast<double>(limit) * output.width / output.height
              : static_cast<double>(limit) * output.height / output.width;
  const int first = std::max(1, static_cast<int>(limit));
  const int second = std::max(1, static_cast<int>(other));
  const int window_height = is_wide ? first : second;
  const int window_width = is_wide ? second : first;
  return {.y = (height - window_height + 1) / 2,
          .x = (width - window_width + 1) / 2,
          .height = window_height,
          .width = window_width};
}

Window TrainingWindow(int height, int width, int components,
                      const ImageSize& image_size, RandomSource& random) {
  const Window window = RandomCropWindow(height, width, random);
  const bool whole = window.height == height && window.width == width;
  return whole && components == 3
             ? CenterCropWindow(height, width, EvalCropFraction({}, image_size),
                                image_size)
             : window;
}

}  // namespace infeed
