#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/jpeg_entropy/entropy.h"

namespace infeed {

// preprocess/jpeg_entropy/entropy-inl.h on the SIMD target in use. Their
// contracts are there; coefficients come in the target's order, StoredPlaces()
// says which.
[[nodiscard]] std::array<std::uint8_t, 64> StoredPlaces();
[[nodiscard]] bool DecodeMcusOnTarget(const McuLayout& layout,
                                      const ScanBytes& bytes, int mcus,
                                      ScanPlace& place,
                                      std::int16_t* coefficients,
                                      std::uint8_t* ends);
[[nodiscard]] bool PassMcusOnTarget(const McuLayout& layout,
                                    const ScanBytes& bytes, int mcus,
                                    ScanPlace& place);
[[nodiscard]] bool DecodeRunsOnTarget(const McuLayout& layout,
                                      std::span<McuRun> runs);
// Decodes as DecodeMcus() does, by ScanAhead. bits: expected of an MCU.
[[nodiscard]] bool DecodeAheadOnTarget(const McuLayout& layout,
                                       const ScanBytes& bytes, int mcus,
                                       double bits, ScanPlace& place,
                                       std::int16_t* coefficients,
                                       std::uint8_t* ends);

// The bytes that Unstuff() copies, and the number that it reads.
[[nodiscard]] std::vector<std::uint8_t> UnstuffOnTarget(
    std::span<const std::uint8_t> bytes, std::size_t& read);

}  // namespace infeed
