#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/geometry.h"
#include "trainer/log/pictures.h"

namespace infeed {

// The image of a record as a small picture, with the part that an output of
// this size and geometry shows framed. Empty, without a type, for a record
// whose image cannot be decoded. image_key: of the image in the record.
[[nodiscard]] WebPicture RecordPicture(std::span<const std::byte> payload,
                                       const std::string& image_key,
                                       const Geometry& geometry,
                                       const ImageSize& output);

}  // namespace infeed
