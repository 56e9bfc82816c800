#pragma once

#include <cstdint>
#include <span>

#include "pipeline/memory/batch.h"

namespace infeed {

// Makes a slot's image of its crop window, pixel by pixel, as a GPU's kernel
// does: with the bytes that the input engine itself makes of it. image:
// [image_size, image_size]. Requires: a batch of windows, and the slot is in
// it.
void ResizeSlot(const Batch& batch, int slot, std::span<std::uint32_t> image);

}  // namespace infeed
