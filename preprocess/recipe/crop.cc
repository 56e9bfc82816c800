#include "preprocess/recipe/crop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
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

namespace {

constexpr int kTorchvisionAttempts = 10;

// Limits of a crop's width / height.
struct RatioLimits {
  double min;
  double max;
  float min_log;
  float max_log;
};
// Logarithms as PyTorch computes them, in float: the first is not the nearest
// float.
constexpr RatioLimits kUsualLimits = {.min = 3.0 / 4.0,
                                      .max = 4.0 / 3.0,
                                      .min_log = -0x1.26962p-2F,
                                      .max_log = 0x1.269624p-2F};

RatioLimits LimitsOf(const CropOptions& crop) {
  if (crop.ratio == 0) {
    return kUsualLimits;
  }
  const double max = crop.ratio;
  return {.min = 1 / max,
          .max = max,
          .min_log = std::log(static_cast<float>(1 / max)),
          .max_log = std::log(crop.ratio)};
}

// Half to even, as Python rounds.
int RoundAsPython(double value) { return static_cast<int>(std::lrint(value)); }

// PyTorch's uniform_() for float.
float Uniform(float low, float high, RandomSource& random) {
  return random.Real() * (high - low) + low;
}

int DrawAnyPlace(int whole, int part, RandomSource& random) {
  return static_cast<int>(
      random.Below(static_cast<std::uint32_t>(whole - part + 1)));
}

Window Centred(int height, int width, int window_height, int window_width) {
  return {.y = (height - window_height) / 2,
          .x = (width - window_width) / 2,
          .height = window_height,
          .width = window_width};
}

Window CentredInRatio(int height, int width, const RatioLimits& limits) {
  const double ratio = static_cast<double>(width) / height;
  if (ratio < limits.min) {
    return Centred(height, width, RoundAsPython(width / limits.min), width);
  }
  if (ratio > limits.max) {
    return Centred(height, width, height, RoundAsPython(height * limits.max));
  }
  return Centred(height, width, height, width);
}

constexpr std::uint32_t kBlack = 0;

int DrawOffset(RandomSource& random) {
  return static_cast<int>(random.Below(2 * Move::kPadding + 1));
}

// Moves elements by `distance` places, towards the end if it is above 0.
void Shift(std::span<std::uint32_t> pixels, std::ptrdiff_t distance) {
  const std::ptrdiff_t gone = std::min(std::abs(distance), std::ssize(pixels));
  if (distance > 0) {
    std::shift_right(pixels.begin(), pixels.end(), gone);
    std::fill_n(pixels.begin(), gone, kBlack);
  } else {
    std::shift_left(pixels.begin(), pixels.end(), gone);
    std::fill_n(pixels.rbegin(), gone, kBlack);
  }
}

constexpr std::size_t kBoxNumbers = 4;
constexpr int kIouOptions = 50;
constexpr int kIouTrials = 40;
constexpr std::array kLeastIous = {0.0F, 0.1F, 0.3F, 0.5F, 0.7F, 0.9F, 1.0F};
constexpr float kLeastIouScale = 0.3F;
constexpr float kIouScales = 0.7F;
constexpr int kMostIouAspect = 2;

struct Corners {
  float x1;
  float y1;
  float x2;
  float y2;
};

// A sum with it is not fused into one rounding.
float Product(float a, float b) { return static_cast<float>(double{a} * b); }

Corners InImage(std::span<const float, kBoxNumbers> box,
                const ImageSize& source) {
  const auto clamped = [](float value, int length) {
    return std::clamp(value, 0.0F, static_cast<float>(length));
  };
  return {.x1 = clamped(box[0], source.width),
          .y1 = clamped(box[1], source.height),
          .x2 = clamped(box[2], source.width),
          .y2 = clamped(box[3], source.height)};
}

Corners ToCorners(const Window& window) {
  return {.x1 = static_cast<float>(window.x),
          .y1 = static_cast<float>(window.y),
          .x2 = static_cast<float>(window.x + window.width),
          .y2 = static_cast<float>(window.y + window.height)};
}

bool HasCentreIn(const Corners& window, const Corners& box) {
  const float x = 0.5F * (box.x1 + box.x2);
  const float y = 0.5F * (box.y1 + box.y2);
  return window.x1 < x && x < window.x2 && window.y1 < y && y < window.y2;
}

float AreaOf(const Corners& box) {
  return Product(box.x2 - box.x1, box.y2 - box.y1);
}

// Intersection over union.
float IouOf(const Corners& box, const Corners& window) {
  const float across =
      std::min(box.x2, window.x2) - std::max(box.x1, window.x1);
  const float down = std::min(box.y2, window.y2) - std::max(box.y1, window.y1);
  const float both = Product(std::max(across, 0.0F), std::max(down, 0.0F));
  return both / (AreaOf(box) + AreaOf(window) - both);
}

// Draws one trial's window; absent if its shape is out of bounds.
std::optional<Window> DrawIouWindow(const ImageSize& source,
                                    RandomSource& random) {
  const auto length = [&](int side) {
    const float factor = kLeastIouScale + Product(kIouScales, random.Real());
    return static_cast<int>(static_cast<float>(side) * factor);
  };
  const auto place = [&](int whole, int part) {
    return static_cast<int>(static_cast<float>(whole - part) * random.Real());
  };
  const int width = length(source.width);
  const int height = length(source.height);
  if (width == 0 || height == 0 || width > kMostIouAspect * height ||
      height > kMostIouAspect * width) {
    return std::nullopt;
  }
  const int x = place(source.width, width);
  const int y = place(source.height, height);
  return Window{.y = y, .x = x, .height = height, .width = width};
}

// Whether a box has its centre in the window, and one such box overlaps it by
// the least part.
bool IsOverlapped(const Corners& window, float least, const ImageSize& source,
                  std::span<const float> boxes) {
  float largest = -1;
  for (std::size_t i = 0; i < boxes.size(); i += kBoxNumbers) {
    const Corners box = InImage(boxes.subspan(i).first<kBoxNumbers>(), source);
    if (HasCentreIn(window, box)) {
      largest = std::max(largest, IouOf(box, window));
    }
  }
  return largest >= least;
}

}  // namespace

Window RandomResizedCropWindow(int height, int width, const CropOptions& crop,
                               RandomSource& random) {
  Check(height > 0 && width > 0, "an image has pixels");
  const RatioLimits limits = LimitsOf(crop);
  const auto area = static_cast<double>(std::int64_t{height} * width);
  for (int attempt = 0; attempt < kTorchvisionAttempts; ++attempt) {
    const double target =
        area * Uniform(crop.min_scale(), crop.max_scale, random);
    const double ratio =
        std::exp(Uniform(limits.min_log, limits.max_log, random));
    const int window_width = RoundAsPython(std::sqrt(target * ratio));
    const int window_height = RoundAsPython(std::sqrt(target / ratio));
    if (window_width > 0 && window_width <= width && window_height > 0 &&
        window_height <= height) {
      const int y = DrawAnyPlace(height, window_height, random);
      const int x = DrawAnyPlace(width, window_width, random);
      return {.y = y, .x = x, .height = window_height, .width = window_width};
    }
  }
  return CentredInRatio(height, width, limits);
}

Framing ResizedCenterCrop(int height, int width, const ImageSize& image_size,
                          const ImageSize& cover) {
  Check(height > 0 && width > 0 && image_size.shorter() > 0 &&
            cover.shorter() > 0,
        "an image has pixels");
  // The side of the image that decides the scale, and what it is resized to.
  const bool is_wide =
      std::int64_t{cover.height} * width >= std::int64_t{cover.width} * height;
  const int whole = is_wide ? height : width;
  const int part = is_wide ? cover.height : cover.width;
  const auto resized = [&](int side) {
    return static_cast<int>(std::int64_t{part} * side / whole);
  };
  // Of an image that is smaller, a margin of whole pixels.
  const auto start = [](int length, int shown) {
    return length < shown ? (length - shown) / 2
                          : RoundAsPython((length - shown) / 2.0);
  };
  Framing framing{.window = {.y = 0, .x = 0, .height = height, .width = width},
                  .height = resized(height),
                  .width = resized(width)};
  framing.y = start(framing.height, image_size.height);
  framing.x = start(framing.width, image_size.width);
  return framing;
}

Move DrawMove(RandomSource& random) {
  const int top = DrawOffset(random);
  const int left = DrawOffset(random);
  return {.down = Move::kPadding - top, .right = Move::kPadding - left};
}

void MovePixels(const Move& move, const ImageSize& size,
                std::span<std::uint32_t> pixels) {
  const auto width = static_cast<std::size_t>(size.width);
  Check(pixels.size() == size.pixels(), "an image of the given size");
  Shift(pixels, std::ptrdiff_t{move.down} * size.width);
  for (std::size_t row = 0; row < pixels.size(); row += width) {
    Shift(pixels.subspan(row, width), move.right);
  }
}

Window IouCropWindow(const ImageSize& source, std::span<const float> boxes,
                     RandomSource& random) {
  Check(boxes.size() % kBoxNumbers == 0, "a box has four numbers");
  const Window whole = {
      .y = 0, .x = 0, .height = source.height, .width = source.width};
  for (int option = 0; option < kIouOptions && !boxes.empty(); ++option) {
    const float least =
        kLeastIous[random.Below(static_cast<std::uint32_t>(kLeastIous.size()))];
    if (least >= 1) {
      return whole;
    }
    for (int trial = 0; trial < kIouTrials; ++trial) {
      const std::optional<Window> window = DrawIouWindow(source, random);
      if (window && IsOverlapped(ToCorners(*window), least, source, boxes)) {
        return *window;
      }
    }
  }
  return whole;
}

}  // namespace infeed
