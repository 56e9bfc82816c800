#pragma once

#include <cstddef>

// zlib's numbers, for packing and unpacking.
namespace infeed {

inline constexpr std::size_t kPackedBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxZlibStep = std::size_t{1} << 30;  // uInt
inline constexpr int kZlibWindowBits = 15;
inline constexpr int kGzipWindowBits = kZlibWindowBits + 16;

}  // namespace infeed
