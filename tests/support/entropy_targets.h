#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/jpeg_entropy/entropy.h"

namespace infeed {

// The entropy decoder as compiled for one SIMD target:
// preprocess/jpeg_entropy/entropy-inl.h and its neighbours have the contracts.
struct EntropyTarget {
  // Where the target keeps coefficients.
  std::array<std::uint8_t, 64> stored_place;
  bool (*decode_mcus)(const McuLayout& layout, const ScanBytes& bytes, int mcus,
                      ScanPlace& place, std::int16_t* coefficients,
                      std::uint8_t* ends);
  bool (*pass_mcus)(const McuLayout& layout, const ScanBytes& bytes, int mcus,
                    ScanPlace& place);
  bool (*decode_runs)(const McuLayout& layout, std::span<McuRun> runs);
  // Decodes as decode_mcus does, by ScanAhead. bits: expected of an MCU.
  bool (*decode_ahead)(const McuLayout& layout, const ScanBytes& bytes,
                       int mcus, double bits, ScanPlace& place,
                       std::int16_t* coefficients, std::uint8_t* ends);
  // The bytes that Unstuff() copies, and the number that it reads.
  std::vector<std::uint8_t> (*unstuff)(std::span<const std::uint8_t> bytes,
                                       std::size_t& read);
};

// That of the target in use (preprocess/pixels/simd_target.h).
[[nodiscard]] EntropyTarget CurrentEntropyTarget();

}  // namespace infeed
