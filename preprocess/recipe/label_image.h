#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/geometry.h"

// Masks of class numbers that follow an image through a recipe. A resize takes
// the nearest value, by the formula of torch.nn.functional.interpolate's mode
// "nearest", which torchvision uses for masks: row or column i of the resized
// window is number floor(float(i) * (float(window) / float(resized))) of the
// window, at most its last one, in float arithmetic.
namespace infeed {

// Buffers that FillLabels() reuses; each thread has its own.
struct LabelScratch {
  LabelImage image;
  std::vector<int> columns;
};

// Decodes a mask (DecodePngLabels()) and fills destination, [height, width] of
// the output, as the geometry says; with `fill` where the output shows no part
// of the image. Value: std::uint8_t or std::int32_t. Throws DataError, with
// destination unspecified, as DecodePngLabels() does, for a mask of another
// size than geometry.source, before it is decoded, and for a value that the
// output shows and Value cannot hold. Requires: as MapLabels().
template <typename Value>
void FillLabels(std::span<const std::byte> png, const Geometry& geometry,
                const ImageSize& output, std::type_identity_t<Value> fill,
                std::int64_t max_pixels, LabelScratch& scratch,
                std::span<Value> destination);

// FillLabels() for a decoded mask. columns: a buffer to reuse. Requires: the
// mask has the size of geometry.source, in which the window lies, and
// destination that of the output.
template <typename Value>
void MapLabels(const LabelImage& labels, const Geometry& geometry,
               const ImageSize& output, std::type_identity_t<Value> fill,
               std::vector<int>& columns, std::span<Value> destination);

}  // namespace infeed
