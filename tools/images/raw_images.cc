#include "tools/images/raw_images.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// The offsets of a pixel's three values, and the distances to the next pixels.
struct Steps {
  std::int64_t right = 0;
  std::int64_t down = 0;
  std::int64_t channel = 0;
};

Steps StepsOf(const RawPart& part) {
  const std::int64_t plane = std::int64_t{part.width} * part.height;
  switch (part.layout) {
    case PixelLayout::kGray:
      return {.right = 1, .down = part.width, .channel = 0};
    case PixelLayout::kPlanes:
      return {.right = 1, .down = part.width, .channel = plane};
    case PixelLayout::kColumnwisePlanes:
      return {.right = part.height, .down = 1, .channel = plane};
  }
  return {};
}

void Spread(const std::vector<std::byte>& pixels, const RawPart& part,
            RgbImage& image) {
  const Steps steps = StepsOf(part);
  image.Resize(part.width, part.height);
  for (int y = 0; y < part.height; ++y) {
    std::uint8_t* destination = image.row(y);
    const std::byte* source = pixels.data() + y * steps.down;
    for (int x = 0; x < part.width; ++x, source += steps.right) {
      for (int c = 0; c < 3; ++c) {
        *destination++ =
            std::to_integer<std::uint8_t>(source[c * steps.channel]);
      }
    }
  }
}

}  // namespace

RawImages::RawImages(std::vector<RawPart> parts) : parts_(std::move(parts)) {
  std::int64_t end = 0;
  for (const RawPart& part : parts_) {
    end += part.count;
    ends_.push_back(end);
  }
}

RawImages::Place RawImages::PlaceOf(const ImageFile& file) const {
  Check(file.raw_index >= 0 && file.raw_index < size(), "there is this image");
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), file.raw_index);
  const RawPart& part = parts_[static_cast<std::size_t>(end - ends_.begin())];
  const std::int64_t number = file.raw_index - (*end - part.count);
  return {part, part.first + number * part.stride};
}

void RawImages::WillRead(const ImageFile& file) const {
  const auto [part, offset] = PlaceOf(file);
  part.bytes->WillRead(offset, part.image_bytes());
}

std::int64_t RawImages::VersionOf(const ImageFile& file) const {
  return PlaceOf(file).part.version;
}

void RawImages::Read(const ImageFile& file, RgbImage& image) const {
  const auto [part, offset] = PlaceOf(file);
  std::vector<std::byte> pixels(static_cast<std::size_t>(part.image_bytes()));
  if (part.bytes->ReadAt(offset, pixels) != pixels.size()) {
    throw IoError(part.bytes->path() +
                  ": became shorter while it was read (is it being written?)");
  }
  Spread(pixels, part, image);
}

}  // namespace infeed
