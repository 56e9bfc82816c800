#pragma once

#include <cstdint>
#include <span>

// The operations of RandAugment and AutoAugment that look at each channel's
// levels first; the reference driver's.
namespace infeed {

// Stretches each channel's levels over 0..255, the fraction dropped; one that
// has a single level stays.
void AutoContrast(std::span<std::uint32_t> pixels);

// Spreads each channel's levels so that all are about as frequent; one with
// fewer than 255 pixels below its highest level stays. Requires:
// pixels.size() < 2^31.
void Equalize(std::span<std::uint32_t> pixels);

}  // namespace infeed
