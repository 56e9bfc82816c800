#pragma once

#include <cstdint>
#include <span>

#include "pipeline/memory/batch.h"

namespace infeed {

// Resizes a slot's crop window to its image, pixel by pixel, as a GPU's kernel
// does, with the same bytes as the input engine. image: [image_size,
// image_size]. Requires: a batch of windows that has this slot.
void ResizeSlot(const Batch& batch, int slot, std::span<std::uint32_t> image);

}  // namespace infeed
