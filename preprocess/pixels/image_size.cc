#include "preprocess/pixels/image_size.h"

#include <charconv>
#include <system_error>

namespace infeed {
namespace {

constexpr int kMostPixels = 1 << 30;

std::optional<int> ParseSide(std::string_view text) {
  int side = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, side);
  const bool is_side = error == std::errc() && end == last && text[0] != '0' &&
                       side >= 1 && side <= kMostPixels;
  return is_side ? std::optional(side) : std::nullopt;
}

}  // namespace

std::string SizeText(const ImageSize& size) {
  const std::string height = std::to_string(size.height);
  return size.is_square() ? height : height + "x" + std::to_string(size.width);
}

std::optional<ImageSize> ParseImageSize(std::string_view text) {
  const std::size_t by = text.find('x');
  const std::optional<int> height = ParseSide(text.substr(0, by));
  const std::optional<int> width =
      by == std::string_view::npos ? height : ParseSide(text.substr(by + 1));
  if (!height || !width) {
    return std::nullopt;
  }
  return ImageSize(*height, *width);
}

}  // namespace infeed
