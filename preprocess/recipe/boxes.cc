#include "preprocess/recipe/boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.h"
#include "preprocess/pixels/image.h"

// Each step is a loop of its own over all boxes: a compiler that may fuse a
// multiplication with the addition that follows would change bits.
namespace infeed {
namespace {

constexpr std::size_t kSides = 4;

void RequireFrom0(std::string_view name, float value, float high) {
  if (!(value >= 0 && value <= high)) {
    throw UsageError("boxes: " + std::string(name) + " is " +
                     std::to_string(value) + ": give a number from 0 to " +
                     std::to_string(high));
  }
}

// Places of a stored box's numbers in x1, y1, x2, y2; sizes are where x2 and y2
// will be.
std::array<std::size_t, kSides> PlacesOf(BoxFormat format) {
  return format == BoxFormat::kYxyx
             ? std::array<std::size_t, kSides>{1, 0, 3, 2}
             : std::array<std::size_t, kSides>{0, 1, 2, 3};
}

float Finite(float value, std::size_t index) {
  if (!std::isfinite(value)) {
    throw DataError("boxes: value " + std::to_string(index) +
                    " is not a finite number");
  }
  return value;
}

std::size_t CountBoxes(std::span<const std::span<const float>> columns) {
  if (columns.size() == 1) {
    const std::size_t values = columns[0].size();
    if (values % kSides != 0) {
      throw DataError("boxes: the key has " + std::to_string(values) +
                      " values, which is no multiple of 4");
    }
    return values / kSides;
  }
  Check(columns.size() == kSides, "boxes have one key or four");
  const auto size = [&](std::size_t i) { return columns[i].size(); };
  if (size(1) != size(0) || size(2) != size(0) || size(3) != size(0)) {
    throw DataError("boxes: 4 keys have " + std::to_string(size(0)) + ", " +
                    std::to_string(size(1)) + ", " + std::to_string(size(2)) +
                    " and " + std::to_string(size(3)) + " values");
  }
  return size(0);
}

// Changes each coordinate; those of x and of y by their own number.
template <typename Change>
void ForEach(std::span<float> boxes, float across, float down,
             const Change& change) {
  for (std::size_t i = 0; i < boxes.size(); i += 2) {
    boxes[i] = change(boxes[i], across);
    boxes[i + 1] = change(boxes[i + 1], down);
  }
}

void Subtract(int x, int y, std::span<float> boxes) {
  ForEach(boxes, static_cast<float>(x), static_cast<float>(y),
          [](float value, float first) { return value - first; });
}

// Keeps the sign of a zero, and what is not a number.
void Clamp(const ImageSize& size, std::span<float> boxes) {
  ForEach(boxes, static_cast<float>(size.width),
          static_cast<float>(size.height), [](float value, float length) {
            return value < 0 ? 0 : value > length ? length : value;
          });
}

void Multiply(float across, float down, std::span<float> boxes) {
  ForEach(boxes, across, down,
          [](float value, float factor) { return value * factor; });
}

// axis 0: left to right; 1: top to bottom.
void Mirror(std::size_t axis, int length, std::span<float> boxes) {
  const auto far = static_cast<float>(length);
  for (std::size_t i = axis; i < boxes.size(); i += kSides) {
    const float first = boxes[i];
    boxes[i] = -(boxes[i + 2] - far);
    boxes[i + 2] = -(first - far);
  }
}

void Cut(const Window& window, std::span<float> boxes) {
  Subtract(window.x, window.y, boxes);
  Clamp({window.height, window.width}, boxes);
}

// The part of an output's side to which boxes are cut. An image that is cut on
// one side and shorter on the other, with its margin at the end, is cut before
// it gets the margin.
int CutLength(int resized, int first, int length, bool is_cut) {
  return is_cut && first == 0 ? std::min(resized, length) : length;
}

void Follow(const Geometry& geometry, const ImageSize& output,
            std::span<float> boxes) {
  const auto& [source, window, resized, y, x, is_mirrored, is_upside_down,
               padding] = geometry;
  if (window != Window{0, 0, source.height, source.width}) {
    Cut(window, boxes);
  }
  if (resized != ImageSize(window.height, window.width)) {
    const auto factor = [](int to, int from) {
      return static_cast<float>(static_cast<double>(to) / from);
    };
    Multiply(factor(resized.width, window.width),
             factor(resized.height, window.height), boxes);
  }
  if (padding != 0) {
    Subtract(-padding, -padding, boxes);
  }
  if (padding != 0 || resized != output) {
    const bool is_cut =
        resized.height > output.height || resized.width > output.width;
    Cut({.y = y + padding,
         .x = x + padding,
         .height = CutLength(resized.height, y, output.height, is_cut),
         .width = CutLength(resized.width, x, output.width, is_cut)},
        boxes);
  }
  if (is_mirrored) {
    Mirror(0, output.width, boxes);
  }
  if (is_upside_down) {
    Mirror(1, output.height, boxes);
  }
}

// The first place in the source of what an output shows, and the end.
struct Extent {
  double first;
  double end;
};

struct Shown {
  Extent x;
  Extent y;
};

Extent ShownSide(int first, int length, int resized, int place, int shown) {
  const auto at = [&](int resized_place) {
    return first + static_cast<double>(resized_place) * length / resized;
  };
  return {.first = at(std::max(place, 0)),
          .end = at(std::min(place + shown, resized))};
}

Shown ShownOf(const Geometry& geometry, const ImageSize& output) {
  const Window& window = geometry.window;
  return {.x = ShownSide(window.x, window.width, geometry.resized.width,
                         geometry.x, output.width),
          .y = ShownSide(window.y, window.height, geometry.resized.height,
                         geometry.y, output.height)};
}

Shown ShownOf(const Window& window) {
  const auto extent = [](int first, int length) {
    return Extent{.first = static_cast<double>(first),
                  .end = static_cast<double>(first + length)};
  };
  return {.x = extent(window.x, window.width),
          .y = extent(window.y, window.height)};
}

using Box = std::span<const float, kSides>;

bool IsCentreShown(const Shown& shown, Box box) {
  const auto is_inside = [](const Extent& extent, float from, float to) {
    const float centre = 0.5F * (from + to);
    return extent.first < centre && centre < extent.end;
  };
  return is_inside(shown.x, box[0], box[2]) &&
         is_inside(shown.y, box[1], box[3]);
}

bool IsEnoughShown(const Shown& shown, float least, Box box) {
  const auto part = [](const Extent& extent, double from, double to) {
    return std::max(0.0,
                    std::min(to, extent.end) - std::max(from, extent.first));
  };
  const double area = (double{box[2]} - box[0]) * (double{box[3]} - box[1]);
  const double visible =
      part(shown.x, box[0], box[2]) * part(shown.y, box[1], box[3]);
  return least == 0 || static_cast<float>(visible / area) >= least;
}

bool IsLargeEnough(const BoxFilter& filter, Box box) {
  const float width = box[2] - box[0];
  const float height = box[3] - box[1];
  return width >= filter.min_size && height >= filter.min_size &&
         width * height >= filter.min_area;
}

// Removes the boxes for which `is_kept` is false.
template <typename Predicate>
void Select(std::vector<float>& boxes, std::vector<std::uint32_t>& kept,
            const Predicate& is_kept) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const float* const box = &boxes[i * kSides];
    if (is_kept(Box(box, kSides))) {
      for (std::size_t side = 0; side < kSides; ++side) {
        boxes[count * kSides + side] = box[side];
      }
      kept[count++] = kept[i];
    }
  }
  boxes.resize(count * kSides);
  kept.resize(count);
}

}  // namespace

void CheckBoxOptions(const BoxFilter& filter, const AugmentOptions& augment) {
  constexpr float kMost = 1 << 20;
  RequireFrom0("min_size", filter.min_size, kMost);
  RequireFrom0("min_area", filter.min_area, kMost);
  RequireFrom0("min_visible", filter.min_visible, 1);
  CheckPixelsStay("boxes", augment);
}

void ReadBoxes(std::span<const std::span<const float>> columns,
               BoxFormat format, bool is_normalized, const ImageSize& source,
               std::vector<float>& boxes) {
  const std::size_t count = CountBoxes(columns);
  const std::array<std::size_t, kSides> places = PlacesOf(format);
  boxes.resize(count * kSides);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const float value =
        columns.size() == 1 ? columns[0][i] : columns[i % kSides][i / kSides];
    boxes[i - i % kSides + places[i % kSides]] = Finite(value, i);
  }
  if (is_normalized) {
    Multiply(static_cast<float>(source.width),
             static_cast<float>(source.height), boxes);
  }
  if (format == BoxFormat::kCxcywh) {
    for (std::size_t i = 0; i < boxes.size(); i += i % kSides == 0 ? 1 : 3) {
      boxes[i] -= boxes[i + 2] / 2;
    }
  }
  if (format == BoxFormat::kCxcywh || format == BoxFormat::kXywh) {
    for (std::size_t i = 0; i < boxes.size(); i += i % kSides == 0 ? 1 : 3) {
      boxes[i + 2] += boxes[i];
    }
  }
}

void CheckOnePerBox(std::string_view key, std::size_t values,
                    std::size_t boxes) {
  if (values != boxes) {
    throw DataError("'" + std::string(key) + "' has " + std::to_string(values) +
                    " values for " + std::to_string(boxes) + " boxes");
  }
}

void FollowBoxes(const Geometry& geometry, const ImageSize& output,
                 const BoxFilter& filter, std::vector<float>& boxes,
                 std::vector<std::uint32_t>& kept) {
  Check(boxes.size() % kSides == 0, "a box has four numbers");
  kept.resize(boxes.size() / kSides);
  std::iota(kept.begin(), kept.end(), 0U);
  Clamp(geometry.source, boxes);
  if (filter.min_visible > 0 || filter.keep == BoxKeep::kCentre) {
    const Shown shown = ShownOf(geometry, output);
    Select(boxes, kept, [&](Box box) {
      return IsEnoughShown(shown, filter.min_visible, box) &&
             (filter.keep == BoxKeep::kArea || IsCentreShown(shown, box));
    });
  }
  if (filter.centre_in_window) {
    const Shown window = ShownOf(geometry.window);
    Select(boxes, kept, [&](Box box) { return IsCentreShown(window, box); });
  }
  Follow(geometry, output, boxes);
  Clamp(output, boxes);
  Select(boxes, kept, [&](Box box) { return IsLargeEnough(filter, box); });
}

}  // namespace infeed
