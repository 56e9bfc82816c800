#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "preprocess/augment/options.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/geometry.h"
#include "preprocess/recipe/options.h"

// Boxes that follow an image through a recipe. All arithmetic is in float, in
// torchvision's order of operations, so that the results have its bits.
namespace infeed {

// Throws UsageError for a number out of range, and for a policy, all of which
// may move pixels without their boxes.
void CheckBoxOptions(const BoxFilter& filter, const AugmentOptions& augment);

// Replaces boxes by the stored ones, as x1, y1, x2, y2 in pixels of an image of
// that size. columns: the boxes' numbers one after the other, or a list for
// each of the four. is_normalized: stored as parts of the image's sides. Throws
// DataError for lists of other lengths and numbers that are not finite.
// Requires: 1 or 4 columns.
void ReadBoxes(std::span<const std::span<const float>> columns,
               BoxFormat format, bool is_normalized, const ImageSize& source,
               std::vector<float>& boxes);

// Throws DataError unless the key has a value for each box.
void CheckOnePerBox(std::string_view key, std::size_t values,
                    std::size_t boxes);

// Replaces boxes, as ReadBoxes() returns them, by those in an output of that
// size: clamped to the image, through the geometry, clamped to the output, and
// filtered. kept receives the indexes of those that are left, in order.
// Inverted boxes are filtered out, and empty ones, unless the filter's sizes
// are 0.
void FollowBoxes(const Geometry& geometry, const ImageSize& output,
                 const BoxFilter& filter, std::vector<float>& boxes,
                 std::vector<std::uint32_t>& kept);

}  // namespace infeed
