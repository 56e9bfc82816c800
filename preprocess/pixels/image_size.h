#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace infeed {

// The size of a batch's images in pixels.
struct ImageSize {
  int height = 0;
  int width = 0;

  constexpr ImageSize() = default;
  // A square: `image_size = 224`. Implicit, as most images are squares.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr ImageSize(int side) : height(side), width(side) {}
  constexpr ImageSize(int image_height, int image_width)
      : height(image_height), width(image_width) {}

  [[nodiscard]] constexpr bool is_square() const { return height == width; }
  [[nodiscard]] constexpr int shorter() const {
    return std::min(height, width);
  }
  [[nodiscard]] constexpr int longer() const { return std::max(height, width); }
  // Requires: both > 0.
  [[nodiscard]] constexpr std::size_t pixels() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }

  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

// "224" for a square, else height x width: "224x320".
[[nodiscard]] std::string SizeText(const ImageSize& size);

// Reads what SizeText() writes; a square may have both sides, "224x224".
// nullopt for anything else, a leading zero and a side below 1 or above 2^30.
[[nodiscard]] std::optional<ImageSize> ParseImageSize(std::string_view text);

// As SizeText(); for messages of tests.
inline std::ostream& operator<<(std::ostream& out, const ImageSize& size) {
  return out << SizeText(size);
}

// A number for a square, else SizeText(). A template, so that nlohmann's
// library finds it and this header does not need that library.
template <typename Json>
// NOLINTNEXTLINE(readability-identifier-naming): the library's name.
void to_json(Json& json, const ImageSize& size) {
  if (size.is_square()) {
    json = size.height;
  } else {
    json = SizeText(size);
  }
}

}  // namespace infeed
