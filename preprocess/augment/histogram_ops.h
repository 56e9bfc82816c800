#pragma once

#include <cstdint>
#include <span>

// The operations of RandAugment and AutoAugment that depend on each channel's
// histogram, as in the reference driver.
namespace infeed {

// Stretches each channel's levels to 0..255, truncated; a channel with a single
// level is unchanged.
void AutoContrast(std::span<std::uint32_t> pixels);

// Equalizes each channel's histogram; a channel with fewer than 255 pixels
// below its highest level is unchanged. Requires: pixels.size() < 2^31.
void Equalize(std::span<std::uint32_t> pixels);

}  // namespace infeed
