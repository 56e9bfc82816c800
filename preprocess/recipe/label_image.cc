#include "preprocess/recipe/label_image.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/error.h"
#include "preprocess/codecs/stored_size.h"
#include "preprocess/pixels/image.h"

namespace infeed {
namespace {

constexpr int kMargin = -1;

// The rows or the columns of an output: what Geometry and Window have of them.
struct LabelSide {
  int window_first;
  int window_length;
  int resized;
  int first;
  int length;
  bool is_reversed;
};

// Returns the row or column of the mask that the output shows at a place.
int SourceOf(const LabelSide& side, int place) {
  const int i =
      side.first + (side.is_reversed ? side.length - 1 - place : place);
  if (i < 0 || i >= side.resized) {
    return kMargin;
  }
  const float scale =
      static_cast<float>(side.window_length) / static_cast<float>(side.resized);
  const int nearest = static_cast<int>(static_cast<float>(i) * scale);
  return side.window_first + std::min(nearest, side.window_length - 1);
}

// A header without a size is left to the decoder's error.
void CheckSourceSize(std::span<const std::byte> png, const ImageSize& source) {
  const std::optional<StoredSize> size = ReadStoredSize(png);
  if (IsPng(png) && size &&
      (size->width != source.width || size->height != source.height)) {
    throw DataError("the mask has " + WidthAndHeight(*size) +
                    " pixels, the image " +
                    WidthAndHeight({source.width, source.height}));
  }
}

}  // namespace

template <typename Value>
void MapLabels(const LabelImage& labels, const Geometry& geometry,
               const ImageSize& output, std::type_identity_t<Value> fill,
               std::vector<int>& columns, std::span<Value> destination) {
  const Window& window = geometry.window;
  Check(ImageSize(labels.height, labels.width) == geometry.source &&
            window.y >= 0 && window.height <= labels.height - window.y &&
            window.x >= 0 && window.width <= labels.width - window.x,
        "the window lies in the mask");
  Check(destination.size() == output.pixels(), "there is a place for a label");
  const LabelSide rows = {.window_first = window.y,
                          .window_length = window.height,
                          .resized = geometry.resized.height,
                          .first = geometry.y,
                          .length = output.height,
                          .is_reversed = geometry.is_upside_down};
  const LabelSide across = {.window_first = window.x,
                            .window_length = window.width,
                            .resized = geometry.resized.width,
                            .first = geometry.x,
                            .length = output.width,
                            .is_reversed = geometry.is_mirrored};
  columns.resize(static_cast<std::size_t>(output.width));
  for (std::size_t x = 0; x < columns.size(); ++x) {
    columns[x] = SourceOf(across, static_cast<int>(x));
  }
  int largest = 0;  // of the values shown
  Value* out = destination.data();
  for (int y = 0; y < output.height; ++y) {
    const int source = SourceOf(rows, y);
    if (source == kMargin) {
      out = std::fill_n(out, output.width, fill);
      continue;
    }
    const std::uint16_t* const row = labels.row(source);
    for (const int column : columns) {
      const int value = column == kMargin ? fill : row[column];
      largest = std::max(largest, value);
      *out++ = static_cast<Value>(value);
    }
  }
  if (sizeof(Value) == 1 &&
      largest > std::numeric_limits<std::uint8_t>::max()) {
    throw DataError("the mask has " + std::to_string(largest) +
                    ", which is no uint8 (give labels=int32)");
  }
}

template <typename Value>
void FillLabels(std::span<const std::byte> png, const Geometry& geometry,
                const ImageSize& output, std::type_identity_t<Value> fill,
                std::int64_t max_pixels, LabelScratch& scratch,
                std::span<Value> destination) {
  CheckSourceSize(png, geometry.source);
  DecodePngLabels(png, max_pixels, scratch.image);
  MapLabels(scratch.image, geometry, output, fill, scratch.columns,
            destination);
}

// The types of a label view.
template void MapLabels(const LabelImage&, const Geometry&, const ImageSize&,
                        std::uint8_t, std::vector<int>&,
                        std::span<std::uint8_t>);
template void MapLabels(const LabelImage&, const Geometry&, const ImageSize&,
                        std::int32_t, std::vector<int>&,
                        std::span<std::int32_t>);
template void FillLabels(std::span<const std::byte>, const Geometry&,
                         const ImageSize&, std::uint8_t, std::int64_t,
                         LabelScratch&, std::span<std::uint8_t>);
template void FillLabels(std::span<const std::byte>, const Geometry&,
                         const ImageSize&, std::int32_t, std::int64_t,
                         LabelScratch&, std::span<std::int32_t>);

}  // namespace infeed
