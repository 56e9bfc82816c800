#include "preprocess/augment/geometric_ops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "preprocess/augment/loops.h"

namespace infeed {
namespace {

constexpr SourceAxis kSameX = {1, 0, 0};
constexpr SourceAxis kSameY = {0, 1, 0};

void Move(const SourceAxis& from_x, const SourceAxis& from_y, PixelImage image,
          MoveScratch& scratch) {
  CopySource(kAugmentFill, image, scratch);
  for (int y = 0; y < image.size.height; ++y) {
    FindPlaces(from_x, from_y, y, image.size.height, scratch.places);
    TakePlaces(image.row(y), scratch);
  }
}

}  // namespace

void CopySource(std::uint32_t outside, PixelImage image, MoveScratch& scratch) {
  scratch.source.resize(image.pixels.size() + 1);
  std::ranges::copy(image.pixels, scratch.source.begin());
  scratch.source.back() = outside;
  scratch.places.resize(image.row_span(0).size());
}

void TakePlaces(std::uint32_t* row, const MoveScratch& scratch) {
  const std::size_t width = scratch.places.size();
  for (std::size_t x = 0; x < width; ++x) {
    row[x] = scratch.source[static_cast<std::size_t>(scratch.places[x])];
  }
}

void Rotate(float degrees, PixelImage image, MoveScratch& scratch) {
  constexpr auto kRadians = static_cast<float>(std::numbers::pi / 180);
  const double angle = degrees * kRadians;
  const auto sine = static_cast<float>(std::sin(angle));
  const auto cosine = static_cast<float>(std::cos(angle));
  const auto last_x = static_cast<float>(image.size.width - 1);
  const auto last_y = static_cast<float>(image.size.height - 1);
  const float x = (last_x - (cosine * last_x - sine * last_y)) / 2.0F;
  const float y = (last_y - (sine * last_x + cosine * last_y)) / 2.0F;
  Move({cosine, -sine, x}, {sine, cosine, y}, image, scratch);
}

void ShearX(float factor, PixelImage image, MoveScratch& scratch) {
  Move({1, factor, 0}, kSameY, image, scratch);
}

void ShearY(float factor, PixelImage image, MoveScratch& scratch) {
  Move(kSameX, {factor, 1, 0}, image, scratch);
}

void TranslateX(float distance, PixelImage image, MoveScratch& scratch) {
  Move({1, 0, distance}, kSameY, image, scratch);
}

void TranslateY(float distance, PixelImage image, MoveScratch& scratch) {
  Move(kSameX, {0, 1, distance}, image, scratch);
}

void Cutout(int row, int column, int reach, PixelImage image) {
  const int top = std::max(row - reach, 0);
  const int left = std::max(column - reach, 0);
  FillWindow({.y = top,
              .x = left,
              .height = std::min(row + reach, image.size.height) - top,
              .width = std::min(column + reach, image.size.width) - left},
             kAugmentFill, image);
}

void FillWindow(const Window& window, std::uint32_t pixel, PixelImage image) {
  for (int y = window.y; y < window.y + window.height; ++y) {
    std::fill_n(image.row(y) + window.x, window.width, pixel);
  }
}

}  // namespace infeed
