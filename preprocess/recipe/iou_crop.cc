#include "preprocess/recipe/iou_crop.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/error.h"

namespace infeed {
namespace {

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
