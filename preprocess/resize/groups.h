#pragma once

namespace infeed {

// Units of work of the kernels of both passes.
inline constexpr int kPixelBytes = 3;
inline constexpr int kGroupPixels = 4;   // neighbours in an output row
inline constexpr int kGroups = 4;        // groups that the vertical pass takes
inline constexpr int kVectorBytes = 64;  // bytes that a horizontal pass loads

}  // namespace infeed
